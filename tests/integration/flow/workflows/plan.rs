//! A workflow before it is run: steps of calls, whose arguments may be what earlier calls made or answered. Changes are
//! made to plans, so that whatever depends on a changed call changes with it when the plan is run.

use serde_json::{Value, json};

/// A workflow that can be run.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// What it belongs to; the `type` of its trajectory.
    pub(crate) family: &'static str,
    /// The task's image, such as `images/shelf.png`.
    pub(crate) image: &'static str,
    /// The question, which names what is asked for by name.
    pub(crate) question: String,
    /// Files and folders that it makes.
    pub(crate) paths: Vec<PathName>,
    /// Entities of the memory's graph that it makes.
    pub(crate) entities: Vec<EntityName>,
    /// Its calls, step after step.
    pub(crate) steps: Vec<Vec<Call>>,
    next: usize,
}

/// The name of a file or folder that a plan makes.
#[derive(Debug, Clone)]
pub(crate) struct PathName {
    /// The last part of the path.
    pub(crate) name: String,
    /// The folder that it is in; none for the workspace.
    pub(crate) folder: Option<usize>,
    /// Whether the question gives this name.
    pub(crate) is_asked: bool,
    /// Whether it is a folder.
    pub(crate) is_folder: bool,
}

/// The name of an entity that a plan makes.
#[derive(Debug, Clone)]
pub(crate) struct EntityName {
    /// The name.
    pub(crate) name: String,
    /// Whether the question gives this name.
    pub(crate) is_asked: bool,
}

/// A call before it is made.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// What other calls know it by; changes keep it.
    pub(crate) id: usize,
    /// `server/tool`.
    pub(crate) tool: String,
    /// Its arguments by name.
    pub(crate) arguments: Vec<(String, Argument)>,
}

/// A value of a call's arguments.
#[derive(Debug, Clone)]
pub(crate) enum Argument {
    /// What the plan says itself.
    Value(Value),
    List(Vec<Argument>),
    Object(Vec<(String, Argument)>),
    /// Parts that are joined to one text.
    Text(Vec<Argument>),
    /// The path of what is made.
    Path(usize),
    /// The file that this call wrote.
    File(usize),
    /// The task's image.
    Image,
    /// The name of an entity.
    Entity(usize),
    /// A part of what a call answered.
    Answer(Answer),
    /// A path in another writing.
    Spelled(Spelling, Box<Argument>),
}

/// A part of what a call answered; a number is multiplied, then added to.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) call: usize,
    /// Where in the answer, as a JSON pointer; empty for all of it.
    pub(crate) pointer: String,
    pub(crate) factor: f64,
    pub(crate) plus: f64,
    /// Whether a number is rounded to a whole one.
    pub(crate) is_whole: bool,
}

/// Writings of a path that name the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// From the root of the file system.
    Absolute,
    /// From `./`.
    Dot,
    /// From `.//`, with doubled slashes.
    Slashes,
}

impl Plan {
    /// A plan without calls.
    pub(crate) fn new(family: &'static str, image: &'static str) -> Self {
        Self {
            family,
            image,
            question: String::new(),
            paths: Vec::new(),
            entities: Vec::new(),
            steps: vec![Vec::new()],
            next: 0,
        }
    }

    /// Begins the next step.
    pub(crate) fn step(&mut self) {
        self.steps.push(Vec::new());
    }

    /// A call with an id of its own, which is in no step yet.
    pub(crate) fn new_call(&mut self, tool: &str, arguments: Vec<(String, Argument)>) -> Call {
        self.next += 1;
        Call { id: self.next, tool: tool.to_owned(), arguments }
    }

    /// Adds a call to the last step; returns its id.
    pub(crate) fn call(&mut self, tool: &str, arguments: Vec<(String, Argument)>) -> usize {
        let call = self.new_call(tool, arguments);
        let id = call.id;
        self.steps.last_mut().unwrap().push(call);
        id
    }

    /// Adds a name of a file or folder.
    pub(crate) fn path(&mut self, name: &str, folder: Option<usize>) -> usize {
        let (name, is_folder) = (name.to_owned(), !name.contains('.'));
        self.paths.push(PathName { name, folder, is_asked: false, is_folder });
        self.paths.len() - 1
    }

    /// Adds a name of an entity.
    pub(crate) fn entity(&mut self, name: &str, is_asked: bool) -> usize {
        self.entities.push(EntityName { name: name.to_owned(), is_asked });
        self.entities.len() - 1
    }

    /// The whole path of a name.
    pub(crate) fn whole_path(&self, path: usize) -> String {
        let PathName { name, folder, .. } = &self.paths[path];
        folder.map_or_else(|| name.clone(), |folder| format!("{}/{name}", self.whole_path(folder)))
    }

    /// All calls in order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.steps.iter().flatten()
    }

    /// All calls in order.
    pub(crate) fn calls_mut(&mut self) -> impl Iterator<Item = &mut Call> {
        self.steps.iter_mut().flatten()
    }

    /// A call by its id.
    pub(crate) fn get(&self, id: usize) -> &Call {
        self.calls().find(|call| call.id == id).unwrap()
    }

    /// A call by its id.
    pub(crate) fn get_mut(&mut self, id: usize) -> &mut Call {
        self.calls_mut().find(|call| call.id == id).unwrap()
    }

    /// The step of a call.
    pub(crate) fn step_of(&self, id: usize) -> usize {
        self.steps.iter().position(|step| step.iter().any(|call| call.id == id)).unwrap()
    }

    /// The calls that use what this one made or answered.
    pub(crate) fn users(&self, id: usize) -> Vec<usize> {
        self.calls().filter(|call| call.uses().contains(&id)).map(|call| call.id).collect()
    }

    /// Changes every argument and every part of one.
    pub(crate) fn each_argument(&mut self, change: &mut dyn FnMut(&mut Argument)) {
        for call in self.calls_mut() {
            call.each_argument(change);
        }
    }

    /// Removes steps without calls.
    pub(crate) fn tidy(&mut self) {
        self.steps.retain(|step| !step.is_empty());
    }
}

impl Call {
    /// The tool without its server.
    pub(crate) fn short(&self) -> &str {
        self.tool.split_once('/').map_or("", |(_, short)| short)
    }

    /// An argument by its name.
    pub(crate) fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// An argument by its name.
    pub(crate) fn argument_mut(&mut self, name: &str) -> Option<&mut Argument> {
        self.arguments.iter_mut().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Sets an argument.
    pub(crate) fn set(&mut self, name: &str, value: Argument) {
        match self.argument_mut(name) {
            Some(place) => *place = value,
            None => self.arguments.push((name.to_owned(), value)),
        }
    }

    /// A number that the plan says itself.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        if let Argument::Value(value) = self.argument(name)? { value.as_f64() } else { None }
    }

    /// Takes an argument out.
    pub(crate) fn remove(&mut self, name: &str) {
        self.arguments.retain(|(key, _)| key != name);
    }

    /// The calls whose files or answers it uses, in order, each as often as it is used.
    pub(crate) fn uses(&self) -> Vec<usize> {
        let mut used = Vec::new();
        self.clone().each_argument(&mut |argument| match argument {
            Argument::File(call) | Argument::Answer(Answer { call, .. }) => used.push(*call),
            _ => {}
        });
        used
    }

    /// The calls whose files it reads, in order.
    pub(crate) fn files(&self) -> Vec<usize> {
        let mut files = Vec::new();
        self.clone().each_argument(&mut |argument| {
            if let Argument::File(call) = argument {
                files.push(*call);
            }
        });
        files
    }

    /// The name of what it writes.
    pub(crate) fn written(&self) -> Option<usize> {
        ["output_path", "destination", "path"].iter().find_map(|name| match self.argument(name)? {
            Argument::Path(path) => Some(*path),
            Argument::Spelled(_, inner) => {
                if let Argument::Path(path) = **inner {
                    Some(path)
                } else {
                    None
                }
            }
            _ => None,
        })
    }

    /// Changes every argument and every part of one, the whole before its parts.
    pub(crate) fn each_argument(&mut self, change: &mut dyn FnMut(&mut Argument)) {
        for (_, argument) in &mut self.arguments {
            argument.each(change);
        }
    }
}

impl Argument {
    fn each(&mut self, change: &mut dyn FnMut(&mut Self)) {
        change(self);
        match self {
            Self::List(parts) | Self::Text(parts) => parts.iter_mut().for_each(|part| part.each(change)),
            Self::Object(members) => members.iter_mut().for_each(|(_, part)| part.each(change)),
            Self::Spelled(_, inner) => inner.each(change),
            _ => {}
        }
    }

    /// What a call answered, at this place.
    pub(crate) fn answer(call: usize, pointer: &str) -> Self {
        Self::Answer(Answer { call, pointer: pointer.to_owned(), factor: 1.0, plus: 0.0, is_whole: false })
    }

    /// A whole number computed from what a call answered.
    pub(crate) fn whole(call: usize, pointer: &str, factor: f64, plus: f64) -> Self {
        Self::Answer(Answer { call, pointer: pointer.to_owned(), factor, plus, is_whole: true })
    }

    /// A plain value.
    pub(crate) fn value(value: impl Into<Value>) -> Self {
        Self::Value(value.into())
    }

    /// Whether it names a file that is read.
    pub(crate) fn is_file(&self) -> bool {
        match self {
            Self::File(_) | Self::Image => true,
            Self::Spelled(_, inner) => inner.is_file(),
            _ => false,
        }
    }
}

impl Answer {
    /// The value at the place of this answer.
    pub(crate) fn value(&self, answered: &Value) -> Value {
        let Some(value) = answered.pointer(&self.pointer) else { return Value::Null };
        let Some(number) = value.as_f64() else { return value.clone() };
        let number = number.mul_add(self.factor, self.plus);
        if self.is_whole { whole(number) } else { json!(number) }
    }
}

/// The nearest whole number.
#[expect(clippy::cast_possible_truncation, reason = "numbers of pixels")]
pub(crate) fn whole(number: f64) -> Value {
    json!(number.round() as i64)
}

/// Arguments by name.
pub(crate) fn named<const N: usize>(arguments: [(&str, Argument); N]) -> Vec<(String, Argument)> {
    arguments.into_iter().map(|(name, argument)| (name.to_owned(), argument)).collect()
}
