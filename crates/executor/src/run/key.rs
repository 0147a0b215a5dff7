//! The key of a prediction: one hash of everything that the prediction depends on. A task is done if there is a record
//! with the key that a run of the task would have now.

use m3_support::canonical::hash_of;
use serde_json::{Value, json};

use super::prediction::PREDICTION_SCHEMA;
use crate::RunOptions;

/// Everything that decides what a model is asked in a task and what may happen then.
#[derive(Debug, Clone, Copy)]
pub struct RunKey<'a> {
    /// The whole task as JSON with sorted keys, unknown ones included; its numbers may be more than JSON takes.
    pub task: &'a str,
    /// SHA-256 of the image's file.
    pub image: Option<&'a str>,
    /// The model as requested.
    pub model: &'a str,
    /// The hash of the prompts.
    pub prompts: &'a str,
    /// Mode, limits, settings.
    pub options: &'a RunOptions,
    /// The hash of the tools that are offered.
    pub tools: &'a str,
    /// Which repetition, from 1.
    pub repeat: u32,
}

impl RunKey<'_> {
    /// The hash: `sha256:` and 64 hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut all = json!({
            "schema": PREDICTION_SCHEMA,
            "task": self.task,
            "image": self.image,
            "model": self.model,
            "prompts": self.prompts,
            "options": self.options,
            "tools": self.tools,
            "repeat": self.repeat,
        });
        // This member is only added when it is set, so that the keys of all other runs stay as they were.
        if self.options.no_images {
            all["no_images"] = Value::Bool(true);
        }
        hash_of(&all)
    }
}

#[cfg(test)]
mod tests {
    use m3_llm::Settings;
    use m3_trajectory::json::Keys;

    use super::*;
    use crate::{Instruction, Limits, Mode};

    #[test]
    fn every_part_counts_and_the_order_of_keys_does_not() {
        let options = RunOptions {
            mode: Mode::Staged,
            instruction: Instruction::Question,
            limits: Limits::default(),
            compress: false,
            result_limit: 100,
            no_images: false,
            max_image_side: None,
            settings: Settings::default(),
        };
        let text = |task: &str| m3_trajectory::json::parse(task.as_bytes()).unwrap().0.to_text(Keys::Sorted);
        let task = text(r#"{"id": "a", "question": "b", "odd": NaN}"#);
        let other = text(r#"{"odd": NaN, "question": "b", "id": "a"}"#);
        let key = RunKey {
            task: &task,
            image: Some("sha256:1"),
            model: "openai:m",
            prompts: "sha256:2",
            options: &options,
            tools: "sha256:3",
            repeat: 1,
        };
        assert_eq!(key.hash(), RunKey { task: &other, ..key }.hash());
        let mut fewer = options.clone();
        fewer.limits.steps = 5;
        let blind = RunOptions { no_images: true, ..options.clone() };
        let changed = text(r#"{"id": "a", "question": "c", "odd": NaN}"#);
        let keys = [
            key,
            RunKey { task: &changed, ..key },
            RunKey { image: None, ..key },
            RunKey { model: "openai:n", ..key },
            RunKey { prompts: "", ..key },
            RunKey { options: &fewer, ..key },
            RunKey { options: &blind, ..key },
            RunKey { tools: "", ..key },
            RunKey { repeat: 2, ..key },
        ];
        let hashes: std::collections::HashSet<String> = keys.iter().map(RunKey::hash).collect();
        assert_eq!(hashes.len(), keys.len());
    }
}
