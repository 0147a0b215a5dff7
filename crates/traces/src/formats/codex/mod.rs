//! Codex: the rollout file of a session, and the output of `codex exec --json`.

mod exec;
mod items;
mod rollout;

use crate::formats::prelude::*;

/// Rollout files, by the kinds of their lines.
pub(super) const ROLLOUT: Format = Format {
    name: "codex-rollout",
    title: "Codex: the rollout file of a session",
    recognizes: |head| {
        head.any(|line| {
            matches!(line.text("type"), Some("session_meta" | "response_item" | "event_msg" | "turn_context"))
                && line.has("payload")
        })
    },
    read: rollout::read,
};

/// Streams of `codex exec --json`, by the kinds of their lines.
pub(super) const EXEC: Format = Format {
    name: "codex-exec",
    title: "Codex: what `codex exec --json` prints",
    recognizes: |head| {
        head.any(|line| match line.text("type") {
            Some("thread.started") => line.has("thread_id"),
            Some("item.started" | "item.updated" | "item.completed") => {
                line.member("item").is_some_and(|item| item.has("type"))
            }
            _ => false,
        })
    },
    read: exec::read,
};

/// Tokens: input includes cached ones, output includes thoughts.
fn usage(usage: &Json) -> Usage {
    let names = ["input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens"];
    Usage::named(usage, names)
}

/// Whether a status means a failure; a command that the user did not allow has failed, too.
fn is_failed(status: Option<&str>) -> bool {
    matches!(status, Some("failed" | "declined"))
}

#[cfg(test)]
mod tests {
    use crate::testing::read_text;

    #[test]
    fn other_streams_are_not_taken() {
        let name = |text: &str| read_text("x.jsonl", &[text, "\n", text].concat()).map(|(name, _)| name);
        assert_eq!(name(r#"{"type":"turn_context","payload":{"model":"m"}}"#), Ok("codex-rollout"));
        assert_eq!(name(r#"{"type":"thread.started","thread_id":"t"}"#), Ok("codex-exec"));
        assert_eq!(
            name(r#"{"type":"item.completed","item":{"id":"i","type":"reasoning"}}"#),
            Ok("codex-exec")
        );
        for other in [
            r#"{"type":"item.completed","item":"x"}"#,
            r#"{"type":"event_msg"}"#,
            r#"{"type":"turn.started"}"#,
        ] {
            assert_eq!(name(other), Err("not recognized".to_owned()), "{other}");
        }
    }
}
