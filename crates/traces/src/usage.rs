//! Tokens, as every provider names them.

use m3_trajectory::json::Json;

use crate::content::{counts, object};
use crate::fields::{Fields, count};

/// Tokens of one reply or of all. A count that the trace does not have is `None`, not 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input: Option<u64>,
    /// The input tokens that came from the provider's cache.
    pub cached: Option<u64>,
    /// Tokens written, thoughts included.
    pub output: Option<u64>,
    /// The output tokens that were thoughts.
    pub reasoning: Option<u64>,
}

/// The sum of the counts that are known.
fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (one, other) => one.or(other),
    }
}

impl Usage {
    /// Adds the tokens of another reply.
    pub(crate) fn add(&mut self, other: impl Into<Option<Self>>) {
        let other = other.into().unwrap_or_default();
        self.input = sum(self.input, other.input);
        self.cached = sum(self.cached, other.cached);
        self.output = sum(self.output, other.output);
        self.reasoning = sum(self.reasoning, other.reasoning);
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// The counts in the JSON of m3's own files.
    pub(crate) fn to_json(self) -> Json {
        object(counts([
            ("input_tokens", self.input),
            ("output_tokens", self.output),
            ("cached_input_tokens", self.cached),
            ("reasoning_tokens", self.reasoning),
        ]))
    }

    /// Reads the counts from the JSON of m3's own files.
    pub(crate) fn of_own(usage: &Json) -> Self {
        Self::named(usage, ["input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens"])
    }

    /// Reads the counts with these names, of input, cached input, output and reasoning; dots lead to inner members.
    pub(crate) fn named(usage: &Json, names: [&str; 4]) -> Self {
        let number = |path: &str| usage.below(&path.split('.').collect::<Vec<_>>()).and_then(count);
        let [input, cached, output, reasoning] = names.map(number);
        Self { input, cached, output, reasoning }
    }

    /// Reads OpenAI's usage, of Chat Completions and of Responses, and of programs that write it the same way: input
    /// includes cached tokens.
    pub(crate) fn of_openai(usage: &Json) -> Self {
        let detail =
            |keys: [&str; 2], name: &str| usage.first(&keys).and_then(|it| it.member(name)).and_then(count);
        Self {
            input: usage.first(&["prompt_tokens", "input_tokens"]).and_then(count),
            output: usage.first(&["completion_tokens", "output_tokens"]).and_then(count),
            cached: detail(["prompt_tokens_details", "input_tokens_details"], "cached_tokens"),
            reasoning: detail(["completion_tokens_details", "output_tokens_details"], "reasoning_tokens"),
        }
    }

    /// Reads Anthropic's usage: input does not include tokens that were read from the cache or written to it.
    pub(crate) fn of_anthropic(usage: &Json) -> Self {
        let cached = usage.count("cache_read_input_tokens");
        let parts = [usage.count("input_tokens"), cached, usage.count("cache_creation_input_tokens")];
        let input = parts.into_iter().fold(None, sum);
        Self { input, cached, output: usage.count("output_tokens"), reasoning: None }
    }

    /// Reads the AI SDK's usage, of all versions: input includes cached tokens.
    pub(crate) fn of_ai_sdk(usage: &Json) -> Self {
        let count_of =
            |key: &str, detail: [&str; 2]| usage.count(key).or_else(|| usage.below(&detail).and_then(count));
        Self {
            input: usage.first(&["inputTokens", "promptTokens"]).and_then(count),
            cached: count_of("cachedInputTokens", ["inputTokenDetails", "cacheReadTokens"]),
            output: usage.first(&["outputTokens", "completionTokens"]).and_then(count),
            reasoning: count_of("reasoningTokens", ["outputTokenDetails", "reasoningTokens"]),
        }
    }

    /// Reads Gemini's usage, in both spellings: input includes cached tokens, output does not include thoughts.
    pub(crate) fn of_gemini(usage: &Json) -> Self {
        let count_of = |keys: [&str; 2]| usage.first(&keys).and_then(count);
        let reasoning = count_of(["thoughtsTokenCount", "thoughts_token_count"]);
        Self {
            input: count_of(["promptTokenCount", "prompt_token_count"]),
            cached: count_of(["cachedContentTokenCount", "cached_content_token_count"]),
            output: sum(count_of(["candidatesTokenCount", "candidates_token_count"]), reasoning),
            reasoning,
        }
    }
}
