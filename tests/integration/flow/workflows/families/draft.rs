//! A workflow while it is written: names for what it makes, and the words of its question.

use serde_json::Value;

use super::super::plan::{Argument, Plan, named};
use super::super::random::Random;
use super::super::scenes::Region;
use super::edits::{Edit, edit};

/// How a workflow names what nobody asked it to name.
#[derive(Debug, Clone, Copy)]
enum Style {
    /// By what it is: `moon.png`, `moon-turned.png`.
    Words,
    /// `step-1.png`, `step-2.png`.
    Steps,
    /// `tmp/p1.png`; the image server makes the folder.
    Folder,
    /// `picA.png`, `picB.png`.
    Letters,
}

const STYLES: [Style; 5] = [Style::Words, Style::Words, Style::Steps, Style::Folder, Style::Letters];

/// Names that questions ask for.
const ASKED: [&str; 6] =
    ["final.png", "for-print.png", "handout.png", "answer.png", "slide.png", "page-4.png"];

/// A workflow while it is written.
pub(super) struct Draft<'r> {
    pub(super) plan: Plan,
    pub(super) random: &'r mut Random,
    style: Style,
    made: usize,
    folder: Option<usize>,
}

/// A picture within a workflow.
#[derive(Debug, Clone)]
pub(super) struct Picture {
    pub(super) file: Argument,
    pub(super) size: (i64, i64),
    pub(super) name: String,
}

impl<'r> Draft<'r> {
    pub(super) fn new(family: &'static str, random: &'r mut Random) -> Self {
        let style = *random.one(&STYLES);
        Self { plan: Plan::new(family, ""), random, style, made: 0, folder: None }
    }

    /// The workflow, with its last words.
    pub(super) fn finish(mut self) -> Plan {
        self.plan.tidy();
        self.plan
    }

    /// Adds to the question.
    pub(super) fn say(&mut self, words: &str) {
        if !self.plan.question.is_empty() {
            self.plan.question.push(' ');
        }
        self.plan.question.push_str(words);
    }

    /// A name that nobody asked for.
    pub(super) fn output(&mut self, hint: &str) -> usize {
        self.made += 1;
        let made = self.made;
        let letter = char::from(b'A' + u8::try_from(made % 26).unwrap() - 1);
        match self.style {
            Style::Words => self.plan.path(&format!("{hint}.png"), None),
            Style::Steps => self.plan.path(&format!("step-{made}.png"), None),
            Style::Letters => self.plan.path(&format!("pic{letter}.png"), None),
            Style::Folder => {
                let folder = self.folder.unwrap_or_else(|| self.plan.path("tmp", None));
                self.folder = Some(folder);
                self.plan.path(&format!("p{made}.png"), Some(folder))
            }
        }
    }

    /// A name that the question asks for.
    pub(super) fn asked(&mut self, name: &str, folder: Option<usize>) -> usize {
        let path = self.plan.path(name, folder);
        self.plan.paths[path].is_asked = true;
        path
    }

    /// A name for what is handed over: of every two or three questions one asks for it.
    pub(super) fn result(&mut self, hint: &str) -> usize {
        if !self.random.chance(0.4) {
            return self.output(hint);
        }
        let name = *self.random.one(&ASKED);
        let words = match self.random.within(0, 2) {
            0 => format!("Save the result as {name}."),
            1 => format!("Call the picture that you end with `{name}`."),
            _ => format!("I need it as {name}."),
        };
        self.say(&words);
        self.asked(name, None)
    }

    /// Cuts a part out of the task's image.
    pub(super) fn cut(&mut self, region: &Region, output: usize) -> Picture {
        let [x1, y1, x2, y2] = region.edges;
        let edges = [("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)];
        let mut arguments = named([("input_path", Argument::Image), ("output_path", Argument::Path(output))]);
        arguments.extend(edges.map(|(name, edge)| (name.to_owned(), Argument::value(edge))));
        let call = self.plan.call("image/crop", arguments);
        Picture { file: Argument::File(call), size: region.size(), name: region.name.to_owned() }
    }

    /// Cuts a part out under a name that nobody asked for.
    pub(super) fn cut_out(&mut self, region: &Region) -> Picture {
        let output = self.output(region.name);
        self.cut(region, output)
    }

    /// Chooses an edit of a picture; its words are for the question.
    pub(super) fn choose(&mut self, picture: &Picture) -> Edit {
        edit(self.random, picture.size)
    }

    /// Makes an edit of a picture.
    pub(super) fn make(&mut self, picture: &Picture, edit: Edit, output: usize) -> Picture {
        let Edit { tool, arguments, size, suffix, .. } = edit;
        let mut all = named([("input_path", picture.file.clone()), ("output_path", Argument::Path(output))]);
        all.extend(arguments);
        let call = self.plan.call(tool, all);
        Picture { file: Argument::File(call), size, name: format!("{}-{suffix}", picture.name) }
    }

    /// A call of plain numbers.
    pub(super) fn compute(&mut self, tool: &str, arguments: Vec<(String, Argument)>) -> usize {
        self.plan.call(&format!("math/{tool}"), arguments)
    }
}

/// Numbers as arguments.
pub(super) fn numbers(numbers: &[f64]) -> Argument {
    Argument::Value(numbers.iter().map(|number| Value::from(*number)).collect())
}
