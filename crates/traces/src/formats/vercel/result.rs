//! The result of `generateText` or `streamText`, with a step for every reply.

use super::{call, model, restore_inputs};
use crate::fields::number;
use crate::formats::prelude::*;

/// The format of results of `generateText` and `streamText`.
pub(in super::super) const RESULT: Format = Format {
    name: "vercel-ai-result",
    title: "Vercel AI SDK: results of generateText and streamText",
    recognizes: |head| head.any(|value| is_result(value) || is_lone_step(value)),
    read,
};

fn is_step(step: &Json) -> bool {
    step.has("toolCalls")
        || step.has("toolResults")
        || step.has("finishReason") && step.list("content").iter().any(|part| part.has("type"))
}

/// Whether a record is a step that stands alone, as callbacks give it.
fn is_lone_step(value: &Json) -> bool {
    is_step(value) && value.first(&["stepNumber", "stepType"]).is_some()
}

fn is_result(value: &Json) -> bool {
    value.list("steps").iter().any(is_step) || response(value).iter().any(model::is_message)
}

/// All messages of a result without steps; in version 7, `response` holds only those of the last step.
fn response(value: &Json) -> &[Json] {
    let messages = value.member("responseMessages").or_else(|| value.below(&["response", "messages"]));
    messages.map(Json::items).unwrap_or_default()
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    if input.head.any(is_lone_step) {
        // A number that falls begins another run.
        let all = input.list(sink)?;
        let number = |step: &Json| step.count("stepNumber").unwrap_or_default();
        let runs: Vec<&[Json]> = all.chunk_by(|step, next| number(step) <= number(next)).collect();
        return (0..).zip(&runs).try_for_each(|(index, run)| {
            let steps = object([("steps", Json::Array(run.to_vec()))]);
            let at = At { index: Some(index).filter(|_| runs.len() > 1), line: None };
            sink.trace(None, result(&steps, at).finish())
        });
    }
    input.records(sink, |sink, at, value| sink.trace(at.line, result(value, at).finish()))
}

fn result(value: &Json, at: At) -> Conversation {
    let mut conversation = Conversation::with_id(at.id(value.id("id")));
    let steps = value.list("steps");
    if let Some(question) = steps.first().unwrap_or(value).below(&["request", "body"]).and_then(question) {
        conversation.user(question);
    }
    if steps.is_empty() {
        model::all(&mut conversation, response(value));
    }
    for step in steps {
        self::step(&mut conversation, step);
    }
    // Without `totalUsage`, the usage of the steps is added up: only in version 7 is `usage` that of all steps.
    if let Some(total) = value.member("totalUsage") {
        conversation.usage = Usage::of_ai_sdk(total);
    } else if steps.is_empty() {
        conversation.usage = value.member("usage").map(Usage::of_ai_sdk).unwrap_or_default();
    }
    restore_inputs(&mut conversation);
    conversation
}

/// The first message of the user in the body that was sent to the provider.
fn question(body: &Json) -> Option<Content> {
    let parsed = body.as_str().and_then(|text| parse(text.as_bytes()).ok());
    let body = parsed.as_ref().map_or(body, |(value, _)| value);
    let first = messages(body)?.iter().find(|message| message.says("role", "user"))?;
    first.first(&["content", "parts"]).map(Content::from_json)
}

fn step(conversation: &mut Conversation, step: &Json) {
    conversation.new_reply();
    let response = step.member("response");
    conversation.within(response.and_then(|it| it.member("timestamp")).and_then(time));
    let model =
        response.and_then(|it| it.text("modelId")).or_else(|| step.below(&["model", "modelId"])?.as_str());
    conversation.set_model(model);
    conversation.usage.add(step.member("usage").map(Usage::of_ai_sdk));
    let model_results = model_results(response);
    let mut outcomes = Vec::new();
    let (mut content, calls) = (step.list("content"), step.list("toolCalls"));
    let in_content = content.iter().filter(|part| part.says("type", "tool-call")).count();
    // Up to version 4 there are only the lists; Mastra's have the calls of a step that its content lacks.
    if content.is_empty() || in_content < calls.len() {
        content = &[];
        conversation.say(step.text("text").unwrap_or_default());
        conversation.calls(calls.iter().map(|part| call(within_payload(part))));
        let results = step.list("toolResults").iter().map(within_payload);
        outcomes.extend(results.map(|part| outcome(part, &model_results)));
    }
    for part in content {
        match part.text("type") {
            Some("text") => conversation.say(part.text("text").unwrap_or_default()),
            Some("tool-call") => conversation.call(call(part)),
            // A call that the provider ran is done before the reply goes on; other tools may end while it is still
            // written.
            Some("tool-result" | "tool-error") if part.is("providerExecuted") => {
                conversation.result(outcome(part, &model_results));
            }
            Some("tool-result" | "tool-error") => outcomes.push(outcome(part, &model_results)),
            Some("reasoning" | "source" | "file" | "tool-approval-request" | "tool-approval-response") => {}
            _ => conversation.note("a part of an unknown type is left out"),
        }
    }
    conversation.results(outcomes);
    times(conversation, step);
}

/// A call or result of a step, which Mastra keeps in a member of its own.
fn within_payload(part: &Json) -> &Json {
    part.member("payload").filter(|payload| payload.has("toolCallId")).unwrap_or(part)
}

/// Results as the model saw them, by the ids of their calls. The last of several with the same id is that of this step:
/// in version 6 the results of earlier steps stand before it.
fn model_results(response: Option<&Json>) -> HashMap<&str, &Json> {
    let messages = response.map(|response| response.list("messages")).unwrap_or_default();
    let parts = messages.iter().flat_map(|message| message.list("content"));
    let results = parts.filter(|part| part.says("type", "tool-result"));
    results.filter_map(|part| Some((part.text("toolCallId")?, part))).collect()
}

/// A result: as the model saw it, else the tool's own value.
fn outcome(part: &Json, model_results: &HashMap<&str, &Json>) -> Outcome {
    if let Some(model_results) = part.text("toolCallId").and_then(|id| model_results.get(id)) {
        return model::outcome(model_results);
    }
    let is_error = part.says("type", "tool-error");
    // An error becomes an object without its message, if it is written as JSON.
    let error = part.member("error").map(|error| error.text("message").map_or_else(|| error.clone(), string));
    let is_lost = matches!(&error, Some(Json::Object(members)) if members.is_empty());
    let result = if is_error {
        error.filter(|_| !is_lost)
    } else {
        part.get("output").or_else(|| part.get("result")).cloned()
    };
    Outcome {
        tool: part.text("toolName").map(str::to_owned),
        is_error,
        ..Outcome::new(call_id(part.member("toolCallId")), result)
    }
}

/// Sets the durations of the calls of a step, which version 7 records.
fn times(conversation: &mut Conversation, step: &Json) {
    let Some(Json::Object(took)) = step.below(&["performance", "toolExecutionMs"]) else { return };
    let took: HashMap<&str, f64> =
        took.iter().filter_map(|(id, took)| Some((id.as_str(), number(took)? / 1000.0))).collect();
    for call in conversation.last_calls_mut() {
        call.seconds = call.id.as_deref().and_then(|id| took.get(id).copied()).or(call.seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::shown;
    use crate::trace::Trace;

    fn trace(value: &str) -> Trace {
        let (value, _) = parse(value.as_bytes()).unwrap();
        assert!(is_result(&value));
        result(&value, At::default()).finish()
    }

    #[test]
    fn errors_are_in_the_content_and_their_words_in_the_messages() {
        let trace = trace(
            r#"{"usage": {"inputTokens": 5}, "steps": [{"content": [
                {"type": "tool-call", "toolCallId": "a", "toolName": "t", "input": {}},
                {"type": "tool-error", "toolCallId": "a", "toolName": "t", "input": {}, "error": {}},
                {"type": "tool-call", "toolCallId": "b", "toolName": "t", "input": "{\"x\""},
                {"type": "tool-error", "toolCallId": "b", "toolName": "t", "input": {}, "error": {"message": "bad"}}],
              "toolCalls": [{"toolCallId": "a", "toolName": "t"}], "usage": {"inputTokens": 7, "cachedInputTokens": 3},
              "response": {"modelId": "m", "messages": [{"role": "tool", "content": [
                {"type": "tool-result", "toolCallId": "a", "output": {"type": "error-text", "value": "words"}}]}]}},
             {"content": [{"type": "text", "text": "done"}], "usage": {"inputTokens": 5}, "finishReason": "stop"}]}"#,
        );
        let [first, second] = &trace.steps[0][..] else { panic!("{trace:?}") };
        assert_eq!(first.result, Some(string("words")));
        assert_eq!((&second.result, &second.arguments), (&Some(string("bad")), &Some(string("{\"x\""))));
        assert!(first.is_error && second.is_error);
        assert_eq!((trace.usage.input, trace.usage.cached), (Some(12), Some(3)));
        assert_eq!(trace.final_reply.as_deref(), Some("done"));
    }

    #[test]
    fn version_4_has_lists_of_calls_and_results_alone() {
        let trace = trace(
            r#"{"steps": [{"text": "so", "toolCalls": [{"toolCallId": "a", "toolName": "t", "args": {"x": 1}}],
                "toolResults": [{"toolCallId": "a", "toolName": "t", "args": {"x": 1}, "result": [1]}],
                "usage": {"promptTokens": 3, "completionTokens": 2}}, {"text": "done", "toolCalls": []}]}"#,
        );
        assert_eq!(trace.steps[0][0].result, Some(Json::Array(vec![Json::Integer(1)])));
        assert_eq!((trace.usage.input, trace.usage.output), (Some(3), Some(2)));
        assert_eq!(trace.final_reply.as_deref(), Some("done"));
    }

    #[test]
    fn messages_of_all_replies_stand_for_steps_that_are_not_there() {
        let messages = r#"[{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "a", "toolName": "t", "input": {}}]}]"#;
        for value in [
            format!(r#"{{"response": {{"messages": {messages}}}}}"#),
            format!(r#"{{"responseMessages": {messages}}}"#),
        ] {
            assert_eq!(trace(&value).call_count(), 1);
        }
    }

    #[test]
    fn the_question_is_in_what_was_sent() {
        let body = r#""{\"messages\": [{\"role\": \"system\", \"content\": \"s\"}, {\"role\": \"user\", \"content\": \"q\"}]}""#;
        let trace = trace(&format!(r#"{{"steps": [{{"toolCalls": [], "request": {{"body": {body}}}}}]}}"#));
        assert_eq!(trace.question.unwrap().text(), "q");
    }

    /// In the shape of `agent.generate()` of Mastra 0.24, whose steps have only the last call in their content.
    #[test]
    fn calls_that_the_content_lacks_are_read_from_the_lists() {
        let text = r#"{"text": "Wet.", "steps": [{"stepType": "initial", "text": "", "toolCalls": [
            {"type": "tool-call", "payload": {"toolCallId": "a", "toolName": "f", "args": {"x": 1}}},
            {"type": "tool-call", "payload": {"toolCallId": "b", "toolName": "g", "args": {}}}], "toolResults": [
            {"type": "tool-result", "payload": {"toolCallId": "b", "toolName": "g", "result": "wind"}},
            {"type": "tool-result", "payload": {"toolCallId": "a", "toolName": "f", "result": "rain"}}],
            "content": [{"type": "tool-call", "toolCallId": "b", "toolName": "g", "input": {}}], "finishReason": "tool-calls"},
            {"stepType": "tool-result", "text": "Wet.", "toolCalls": [], "toolResults": [], "content": [{"type": "text", "text": "Wet."}],
            "finishReason": "stop"}]}"#;
        let trace = trace(text);
        assert_eq!(shown(&trace), [r#"f({"x":1})=rain g({})=wind"#]);
        assert_eq!(trace.final_reply.as_deref(), Some("Wet."));
    }
}
