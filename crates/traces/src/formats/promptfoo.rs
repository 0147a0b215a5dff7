//! promptfoo's results: one reply of a provider for every test, prompt and provider. Tools are not run there.

use super::chat;
use crate::arguments::input;
use crate::formats::prelude::*;

/// The format of promptfoo's results.
pub(super) const RESULTS: Format = Format {
    name: "promptfoo",
    title: "promptfoo: results of an evaluation",
    recognizes: |head| head.any(|value| is_result(value) || results(value).iter().any(is_result)),
    read,
};

fn is_result(value: &Json) -> bool {
    value.has("promptIdx") && value.has("testIdx")
}

/// The results of an evaluation.
fn results(value: &Json) -> &[Json] {
    value.list_below(&["results", "results"])
}

fn read(source: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    source.records(sink, |sink, at, value| match value {
        value if is_result(value) => sink.trace(at.line, result(value).finish()),
        value => {
            let origin = value.text("evalId").map(|id| ("evaluation", id.to_owned()));
            results(value).iter().try_for_each(|it| {
                let mut conversation = result(it);
                conversation.origin.extend(origin.clone());
                sink.trace(at.line, conversation.finish())
            })
        }
    })
}

/// One test with one prompt and one provider.
fn result(value: &Json) -> Conversation {
    let number = |key| value.id(key).unwrap_or_default();
    let mut conversation =
        Conversation::with_id(Some(format!("{}:{}", number("testIdx"), number("promptIdx"))));
    conversation.origin.extend(task(value).map(|task| ("task", task)));
    let provider = value.member("provider");
    conversation.model = provider.and_then(|it| it.text("id").or_else(|| it.as_str())).map(str::to_owned);
    conversation.user(question(value));
    conversation.within(Some(0.0));
    if let Some(response) = value.member("response") {
        self::response(&mut conversation, response);
    }
    // 2 is an error of the provider; 1 is a failed assertion.
    if value.count("failureReason") == Some(2) {
        conversation.note("the provider failed");
    }
    conversation.within(value.number("latencyMs").map(|latency| latency / 1000.0));
    conversation
}

/// The id of the task: from the metadata of the test, else its description.
fn task(value: &Json) -> Option<String> {
    let test = value.member("testCase")?;
    let named = ["taskId", "task_id", "task", "id"].iter().find_map(|key| test.member("metadata")?.id(key));
    named.or_else(|| test.id("description"))
}

/// The question: the prompt, or the first user message if the prompt is a JSON list of messages. Without a prompt, the
/// variable `question` or the only variable.
fn question(value: &Json) -> Content {
    let prompt = value.member("prompt");
    let Some(raw) = prompt.and_then(|prompt| prompt.text("raw").or_else(|| prompt.as_str())) else {
        let vars = value.member("vars").map(members).unwrap_or_default();
        let asked = vars.iter().find(|(key, _)| key == "question").or(if vars.len() == 1 {
            vars.first()
        } else {
            None
        });
        return asked.map(|(_, text)| Content::from_json(text)).unwrap_or_default();
    };
    if raw.trim_start().starts_with(['[', '{'])
        && let Ok((value, _)) = parse(raw.as_bytes())
        && let Some(list) = messages(&value)
        && let Some(first) = list.iter().find(|message| message.says("role", "user"))
    {
        return first.first(&["content", "parts"]).map(Content::from_json).unwrap_or_default();
    }
    Content::of_text(raw)
}

fn response(conversation: &mut Conversation, response: &Json) {
    let is_cached = response.is("cached");
    if is_cached {
        conversation.note("the answer is from the cache of promptfoo");
    }
    if let Some(usage) = response.member("tokenUsage") {
        let detail = |key| usage.below(&["completionDetails", key]).and_then(crate::fields::count);
        // In an answer from promptfoo's own cache, `cached` counts all tokens of the original request.
        let cached = detail("cacheReadInputTokens").or_else(|| usage.count("cached").filter(|_| !is_cached));
        let (input, output) = (usage.count("prompt"), usage.count("completion"));
        conversation.usage.add(Usage { input, output, cached, reasoning: detail("reasoning") });
    }
    if agent(conversation, response.list_below(&["metadata", "toolCalls"])) {
        conversation.reply(None);
        conversation.say(response.text("output").unwrap_or_default());
        return;
    }
    conversation.reply(None);
    if response.member("raw").is_some_and(|raw| self::raw(conversation, raw)) {
        return;
    }
    match response.member("output") {
        Some(Json::String(text)) => self::text(conversation, text),
        Some(output) => self::output(conversation, output),
        None => {}
    }
}

/// Adds the calls of a provider that runs an agent of its own, with their results; returns false without calls.
fn agent(conversation: &mut Conversation, calls: &[Json]) -> bool {
    for call in calls {
        if call.has("parentToolUseId") {
            conversation.note("a call of a sub-agent is left out");
            continue;
        }
        let traced = TracedCall {
            result: call.first(&["output", "result"]).cloned(),
            is_error: call.is("is_error") || call.is("isError"),
            ..TracedCall::new(
                call_id(call.member("id")),
                named_tool(call, "name"),
                arguments(call.first(&["input", "arguments", "args"])),
            )
        };
        conversation.step(vec![traced]);
        conversation.note("whether a call was made together with others is unknown");
    }
    !calls.is_empty()
}

/// Reads the provider's own reply, an object or its JSON; returns false if its kind is not known.
fn raw(conversation: &mut Conversation, raw: &Json) -> bool {
    let parsed = raw.as_str().and_then(|text| parse(text.as_bytes()).ok());
    let raw = parsed.as_ref().map_or(raw, |(value, _)| value);
    let message = raw.list("choices").first().and_then(|choice| choice.member("message"));
    let Some(parts) =
        message.or_else(|| raw.first(&["output", "content"]).filter(|it| !it.items().is_empty()))
    else {
        return false;
    };
    conversation.set_model(raw.text("model"));
    output(conversation, parts);
    true
}

/// Adds an output: a list of calls or parts, a message of the assistant, or one part.
fn output(conversation: &mut Conversation, output: &Json) {
    match output {
        Json::Array(parts) => parts.iter().for_each(|part| {
            if !self::part(conversation, part) {
                conversation.note("a part of an unknown type is left out");
            }
        }),
        message
            if message.has("tool_calls")
                || message.has("function_call")
                || message.says("role", "assistant") =>
        {
            chat::message(conversation, &assistant(message));
        }
        other => {
            if !part(conversation, other) {
                conversation.say(&other.to_text(m3_trajectory::json::Keys::AsRead));
            }
        }
    }
}

/// The message with the role `assistant`, which is sometimes left out.
fn assistant(message: &Json) -> Json {
    let members = members(message).iter().filter(|(key, _)| key != "role").cloned();
    Json::Object(members.chain([("role".to_owned(), string("assistant"))]).collect())
}

/// Reads a part of a reply of Chat Completions, Anthropic or Responses; returns false if it is of another kind.
fn part(conversation: &mut Conversation, part: &Json) -> bool {
    let kind = part.text("type").unwrap_or_default();
    let name = part.text("name").unwrap_or_default();
    match kind {
        "message" => part.list("content").iter().for_each(|inner| {
            self::part(conversation, inner);
        }),
        "text" | "output_text" | "refusal" => {
            conversation.reply(None);
            conversation.say(part.first_text(&["text", "refusal"]).unwrap_or_default());
        }
        "thinking" | "redacted_thinking" | "reasoning" => {}
        "tool_use" | "server_tool_use" | "function_call" | "mcp_call" if !name.is_empty() => {
            let server = part.first_text(&["server_label", "namespace"]);
            let id = call_id(part.first(&["call_id", "id"]));
            conversation.call(TracedCall::new(
                id,
                tool(server, name),
                arguments(part.first(&["input", "arguments"])),
            ));
        }
        "custom_tool_call" if !name.is_empty() => conversation.call(TracedCall::new(
            call_id(part.member("call_id")),
            tool(None, name),
            part.member("input").map(input),
        )),
        _ if part.has("function") || part.has("custom") => conversation.call(chat::call(part)),
        _ => return false,
    }
    true
}

/// Adds a text in which calls stand as JSON, each on a line of its own. The model's own text may hold JSON, too, so
/// only objects with the members of a call are calls.
fn text(conversation: &mut Conversation, text: &str) {
    let (mut other_lines, mut calls) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let value = if line.starts_with('{') { parse(line.as_bytes()).ok() } else { None };
        match value {
            Some((value, _)) if is_written_call(&value) => calls.push(value),
            _ if line.starts_with("Reasoning: ") => {}
            _ => other_lines.push(line),
        }
    }
    conversation.say(other_lines.join("\n").trim());
    for call in &calls {
        part(conversation, call);
    }
}

fn is_written_call(value: &Json) -> bool {
    match value.text("type") {
        Some("tool_use") => value.has("id") && value.has("name") && value.has("input"),
        Some("function_call") => value.has("call_id") && value.has("name") && value.has("arguments"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    fn trace(response: &str) -> Trace {
        let text = format!(
            r#"{{"testIdx": 1, "promptIdx": 0, "error": "no", "failureReason": 1, "response": {response}}}"#
        );
        let (value, _) = parse(text.as_bytes()).unwrap();
        result(&value).finish()
    }

    fn tools(trace: &Trace) -> Vec<&str> {
        trace.steps.iter().flatten().map(|call| call.tool.as_str()).collect()
    }

    #[test]
    fn json_in_a_text_is_a_call_only_with_the_members_of_one() {
        let parsed = trace(
            r#"{"output": "So:\n\n{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"x\",\"input\":{}}\n\n{\"type\":\"tool_use\"}"}"#,
        );
        assert_eq!((tools(&parsed), &parsed.final_reply), (vec!["x"], &None));
        let own = trace(r#"{"output": "{\"type\": \"tool_use\", \"name\": \"x\"}\n {\"a\": 1}"}"#);
        assert_eq!((own.call_count(), own.final_reply.unwrap().lines().count()), (0, 2));
        let thought = trace(r#"{"output": "Reasoning: hm\nIt is 5."}"#);
        assert_eq!(thought.final_reply.as_deref(), Some("It is 5."));
    }

    #[test]
    fn the_raw_reply_is_better_than_the_text() {
        let raw = r#"{"model": "m", "content": [{"type": "text", "text": "So."}, {"type": "tool_use", "id": "a", "name": "y", "input": {"k": 1}}]}"#;
        for raw in [raw.to_owned(), string(raw).to_text(m3_trajectory::json::Keys::AsRead)] {
            let trace = trace(&format!(r#"{{"output": "lost", "raw": {raw}}}"#));
            assert_eq!((tools(&trace), trace.model.as_deref()), (vec!["y"], Some("m")));
        }
        let unknown = trace(r#"{"output": "Hello!", "raw": {"x": 1}}"#);
        assert_eq!(unknown.final_reply.as_deref(), Some("Hello!"));
        let chat = trace(
            r#"{"output": "", "raw": "{\"choices\": [{\"message\": {\"tool_calls\": [{\"function\": {\"name\": \"z\", \"arguments\": \"{\"}}]}}]}"}"#,
        );
        assert_eq!(tools(&chat), ["z"]);
    }

    #[test]
    fn questions() {
        let asked = |text: &str| question(&parse(text.as_bytes()).unwrap().0).text();
        let list = r#"{"prompt": {"raw": "[{\"role\": \"system\", \"content\": \"s\"}, {\"role\": \"user\", \"content\": \"q\"}]"}}"#;
        assert_eq!(asked(list), "q");
        assert_eq!(asked(r#"{"prompt": {"raw": "[sic] q"}, "vars": {"question": "no"}}"#), "[sic] q");
        assert_eq!(asked(r#"{"vars": {"topic": "t", "question": "q"}}"#), "q");
    }

    #[test]
    fn agents_have_steps_of_their_own() {
        let trace = trace(
            r#"{"output": "done", "metadata": {"toolCalls": [{"id": "1", "name": "a", "input": {}, "output": "r", "is_error": true},
            {"id": "2", "name": "b", "input": {}, "parentToolUseId": "1"}]}, "cached": true,
            "tokenUsage": {"cached": 90, "total": 90}}"#,
        );
        assert_eq!((tools(&trace), trace.final_reply.as_deref()), (vec!["a"], Some("done")));
        assert!(trace.steps[0][0].is_error && trace.usage.is_empty());
    }
}
