//! The calls of a streamed reply of Chat Completions, put together from their pieces.

use std::collections::HashMap;

use m3_trajectory::json::Json;

/// The pieces of a call in a stream.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pub(super) id: Option<String>,
    pub(super) name: String,
    /// The text that the pieces make, or the object that one piece has.
    pub(super) arguments: Option<Json>,
    /// How far the text is: the open brackets, whether a string is open, and whether its next letter is escaped.
    open: (u64, bool, bool),
    pub(super) is_custom: bool,
}

impl Pieces {
    /// Adds arguments: texts are joined, an object stands for the whole.
    pub(super) fn add(&mut self, arguments: &Json) {
        if let Json::String(text) = arguments {
            let (brackets, in_string, is_escaped) = &mut self.open;
            for byte in text.bytes() {
                match byte {
                    _ if *is_escaped => *is_escaped = false,
                    b'\\' if *in_string => *is_escaped = true,
                    b'"' => *in_string = !*in_string,
                    b'{' | b'[' if !*in_string => *brackets += 1,
                    b'}' | b']' if !*in_string => *brackets = brackets.saturating_sub(1),
                    _ => {}
                }
            }
        }
        match (&mut self.arguments, arguments) {
            (Some(Json::String(before)), Json::String(more)) => before.push_str(more),
            (Some(Json::Object(_)), Json::String(_)) => {}
            (kept, _) => *kept = Some(arguments.clone()),
        }
    }

    /// Whether a piece with this name and arguments, and no id, begins another call.
    fn ends_before(&self, name: &str, has_arguments: bool) -> bool {
        if name.is_empty() || self.name.is_empty() {
            return false;
        }
        match &self.arguments {
            None => false,
            Some(Json::String(text)) if text.is_empty() => false,
            // A name that comes with every piece comes with the last one as well, which may be empty.
            Some(Json::String(_)) => name != self.name || has_arguments && self.open == (0, false, false),
            Some(_) => name != self.name || has_arguments,
        }
    }
}

/// The calls of a streamed reply, in the order in which they begin.
#[derive(Debug, Default)]
pub(super) struct StreamedCalls {
    pub(super) all: Vec<Pieces>,
    by_id: HashMap<String, usize>,
    /// The latest call with each index.
    by_index: HashMap<u64, usize>,
}

impl StreamedCalls {
    /// Returns the call that a piece continues, or begins one. A new id begins a call, whatever the index is: many servers
    /// give all calls the same index, or none.
    pub(super) fn piece(
        &mut self,
        id: Option<String>,
        index: Option<u64>,
        name: &str,
        has_arguments: bool,
    ) -> &mut Pieces {
        let at_index = index.and_then(|index| self.by_index.get(&index)).copied();
        let place = if let Some(id) = &id {
            // The id may come after the first piece.
            let without_id = || at_index.filter(|place| self.all[*place].id.is_none());
            self.by_id.get(id).copied().or_else(without_id)
        } else {
            let last = self.all.len().checked_sub(1).filter(|_| index.is_none());
            at_index.or(last).filter(|place| !self.all[*place].ends_before(name, has_arguments))
        };
        let place = place.unwrap_or_else(|| {
            self.all.push(Pieces::default());
            self.all.len() - 1
        });
        self.by_index.extend(index.map(|index| (index, place)));
        self.by_id.extend(id.clone().map(|id| (id, place)));
        let pieces = &mut self.all[place];
        pieces.id = pieces.id.take().or(id);
        pieces
    }
}
