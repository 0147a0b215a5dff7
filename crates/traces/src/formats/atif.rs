//! ATIF, the trajectories of Harbor: documents whose agent steps are replies, each with the results of its calls.

use crate::arguments::is_broken;
use crate::export::restore;
use crate::formats::prelude::*;

/// The format of ATIF documents, one in a file or one on each line.
pub(super) const FORMAT: Format = Format {
    name: "atif",
    title: "ATIF, trajectories of Harbor",
    recognizes: |head| head.any(is_atif),
    read,
};

fn is_atif(value: &Json) -> bool {
    value.text("schema_version").is_some_and(|version| version.starts_with("ATIF-"))
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    input.records(sink, |sink, at, value| {
        if is_atif(value) {
            return sink.trace(at.line, document(value, at).finish());
        }
        sink.skip(at.line, "no ATIF document, left out")
    })
}

/// A trajectory with those of its sub-agents.
fn document(value: &Json, at: At) -> Conversation {
    let mut it = Conversation::default();
    let trajectory = value.id("trajectory_id");
    it.id = at.id(value.id("session_id").or_else(|| trajectory.clone()));
    it.origin.extend(trajectory.filter(|own| it.id.as_ref() != Some(own)).map(|own| ("trajectory_id", own)));
    it.model = value.text_below(&["agent", "model_name"]).map(str::to_owned);
    let mut sides = Sides::default();
    let mut has_begun = false;
    for step in value.list("steps") {
        if step.is("is_copied_context") {
            it.note("a step of an earlier file is left out");
        } else if let Some(side) = sides.of_step(step) {
            self::step(side, step, &mut true);
        } else {
            self::step(&mut it, step, &mut has_begun);
        }
    }
    let total = value.member("final_metrics").map(|total| metrics(total, "total_"));
    it.usage = total.filter(|total| !total.is_empty()).unwrap_or(it.usage);
    if value.has("continued_trajectory_ref") {
        it.note("the trajectory goes on in another file");
    }
    if let Some(extra) = value.member("extra") {
        restore(&mut it, extra);
    }
    it.nested = sides.agents;
    for (number, inner) in (1..).zip(value.list("subagent_trajectories")) {
        let names = [inner.id("trajectory_id"), inner.text_below(&["agent", "name"]).map(str::to_owned)];
        let name = names.into_iter().flatten().next().unwrap_or_else(|| format!("agent-{number}"));
        it.nested.push((name, document(inner, At::default())));
    }
    it
}

/// Steps of sub-agents that stand among those of the outer agent.
#[derive(Default)]
struct Sides {
    agents: Vec<(String, Conversation)>,
    places: HashMap<String, usize>,
}

impl Sides {
    /// The sub-agent that a step belongs to.
    fn of_step(&mut self, step: &Json) -> Option<&mut Conversation> {
        let extra = step.member("extra").filter(|extra| extra.is("is_sidechain"))?;
        let name = extra.id("agent_id").unwrap_or_else(|| "agent".to_owned());
        let place = *self.places.entry(name).or_insert_with_key(|name| {
            self.agents.push((name.clone(), Conversation::default()));
            self.agents.len() - 1
        });
        self.agents.get_mut(place).map(|(_, conversation)| conversation)
    }
}

/// Adds a step. `has_begun` tells whether the agent has answered before.
fn step(it: &mut Conversation, step: &Json, has_begun: &mut bool) {
    it.at(step.member("timestamp").and_then(time));
    let message = Content::of_member(step, "message");
    match step.text("source") {
        Some("agent") => {
            *has_begun = true;
            agent(it, step, &message);
        }
        // Earlier messages of the user may be context that a program put there.
        Some("user") if !*has_begun => it.ask_again(message),
        Some("user") => it.user(message),
        Some("system") => {}
        _ => it.note("a step of an unknown source is left out"),
    }
}

/// Adds a reply with its calls and their results.
fn agent(it: &mut Conversation, step: &Json, message: &Content) {
    it.model = step.text("model_name").map(str::to_owned).or(it.model.take());
    it.usage.add(step.member("metrics").map(|all| metrics(all, "")).unwrap_or_default());
    if step.count("llm_call_count") == Some(0) && step.has("tool_calls") {
        it.note("a step that no model made is kept");
    }
    it.new_reply();
    it.say(&message.text());
    let calls = step.list("tool_calls");
    let mut made: Vec<TracedCall> = calls.iter().map(|call| self::call(call, step)).collect();
    results(it, &mut made, step.list_below(&["observation", "results"]));
    it.calls(made);
    it.end_reply();
}

/// A call, with the text of the model where its arguments were not an object.
fn call(call: &Json, step: &Json) -> TracedCall {
    let id = call_id(call.member("tool_call_id"));
    let detail = id.as_deref().and_then(|id| step.below(&["extra", "tool_call_details", id]));
    let is_text = detail.is_some_and(|detail| detail.says("item_type", "custom_tool_call"));
    let raw = call.below(&["extra", "raw_arguments"]).or_else(|| detail?.member("raw_arguments"));
    let raw = raw.and_then(Json::as_str).filter(|raw| !is_text && is_broken(raw));
    TracedCall::new(
        id,
        named_tool(call, "function_name"),
        raw.map_or_else(|| arguments(call.member("arguments")), |raw| Some(Json::String(raw.to_owned()))),
    )
}

/// Joins results to the calls of the same step: by id, and those without by order if there are as many as calls.
fn results(it: &mut Conversation, calls: &mut [TracedCall], results: &[Json]) {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (place, call) in calls.iter().enumerate().rev() {
        places.entry(call.id.clone().unwrap_or_default()).or_default().push(place);
    }
    let is_by_order =
        results.len() == calls.len() && !results.iter().any(|result| result.has("source_call_id"));
    for (order, result) in results.iter().enumerate() {
        let by_id = call_id(result.member("source_call_id")).and_then(|id| places.get_mut(&id)?.pop());
        let place = by_id.or_else(|| is_by_order.then_some(order));
        match place.and_then(|place| calls.get_mut(place)) {
            Some(call) => {
                call.result = result.member("content").map(|content| Content::from_json(content).to_json());
                call.is_error = result.below(&["extra", "tool_result_is_error"]) == Some(&Json::Bool(true));
            }
            None => it.note("a result without a call is left out"),
        }
        let agents = result.member("subagent_trajectory_ref");
        let agents = agents
            .map(|agents| if let Json::Array(list) = agents { list } else { std::slice::from_ref(agents) });
        for _ in agents.unwrap_or_default().iter().filter(|agent| !agent.has("trajectory_id")) {
            it.note("the trajectory of a sub-agent is in another file");
        }
    }
    if is_by_order && results.len() > 1 {
        it.note("results without an id are joined to calls by order");
    }
}

/// The tokens of a step.
fn metrics(metrics: &Json, before_name: &str) -> Usage {
    let count = |name: &str| metrics.count(&format!("{before_name}{name}"));
    let (input, output, cached) =
        (count("prompt_tokens"), count("completion_tokens"), count("cached_tokens"));
    Usage { input, output, cached, reasoning: None }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;
    use crate::testing::shown;

    fn read(text: &str) -> Trace {
        document(&parse(text.as_bytes()).unwrap().0, At::default()).finish()
    }

    #[test]
    fn results_are_of_the_same_step_by_id_or_by_order_if_the_numbers_agree() {
        let trace = read(
            r#"{"schema_version": "ATIF-v1.6", "steps": [
            {"source": "agent", "tool_calls": [{"tool_call_id": "a", "function_name": "x"}, {"tool_call_id": "a", "function_name": "y"}],
             "observation": {"results": [{"source_call_id": "a", "content": "1"}, {"source_call_id": "a", "content": null}]}},
            {"source": "agent", "tool_calls": [{"function_name": "x"}, {"function_name": "y"}],
             "observation": {"results": [{"content": "1"}, {"content": "2", "extra": {"tool_result_is_error": true}}]}},
            {"source": "agent", "llm_call_count": 0, "tool_calls": [{"tool_call_id": "b", "function_name": "z"}],
             "observation": {"results": [{"content": "1"}, {"content": "2"}, {"source_call_id": "a", "content": "3"}]}}]}"#,
        );
        assert_eq!(shown(&trace), ["x(-)=1 y(-)=-", "x(-)=1 y(-)=2!", "z(-)=-"]);
        let notes: Vec<(&str, u64)> = trace.notes.iter().collect();
        assert_eq!(
            notes,
            [
                ("a result without a call is left out", 3),
                ("a step that no model made is kept", 1),
                ("results without an id are joined to calls by order", 1)
            ]
        );
    }

    #[test]
    fn copied_steps_and_those_of_sub_agents_are_not_of_the_trajectory() {
        let trace = read(
            r#"{"schema_version": "ATIF-v1.7", "session_id": "s", "trajectory_id": "t", "agent": {"model_name": "m"}, "steps": [
            {"source": "user", "message": "old", "is_copied_context": true},
            {"source": "agent", "tool_calls": [{"function_name": "old"}], "is_copied_context": true},
            {"source": "user", "message": "Context"}, {"source": "user", "message": "Question?"},
            {"source": "agent", "message": "", "metrics": {"prompt_tokens": 3, "completion_tokens": 1},
             "tool_calls": [{"tool_call_id": "a", "function_name": "task"}], "observation": {"results": [
             {"source_call_id": "a", "content": "x", "subagent_trajectory_ref": [{"trajectory_id": "u"}, {"trajectory_path": "p"}]}]}},
            {"source": "user", "message": "SUB", "extra": {"is_sidechain": true, "agent_id": "q"}},
            {"source": "agent", "extra": {"is_sidechain": true, "agent_id": "q"}, "tool_calls": [{"function_name": "in"}]},
            {"source": "user", "message": "Thanks"},
            {"source": "agent", "message": "Done.", "metrics": {"prompt_tokens": 4, "completion_tokens": 2}}],
            "subagent_trajectories": [{"trajectory_id": "u", "steps": [{"source": "agent", "tool_calls": [{"function_name": "deep"}]}]}]}"#,
        );
        assert_eq!(shown(&trace), ["task(-)=x"]);
        assert_eq!(trace.question.map(|question| question.text()).as_deref(), Some("Question?"));
        assert_eq!(trace.final_reply.as_deref(), Some("Done."));
        assert_eq!(
            (trace.id.as_deref(), trace.usage.input, trace.usage.output),
            (Some("s"), Some(7), Some(3))
        );
        let nested: Vec<(&str, Vec<String>)> =
            trace.nested.iter().map(|(name, it)| (name.as_str(), shown(it))).collect();
        assert_eq!(nested, [("q", vec!["in(-)=-".to_owned()]), ("u", vec!["deep(-)=-".to_owned()])]);
        assert!(
            trace.notes.iter().any(|(note, _)| note == "the trajectory of a sub-agent is in another file")
        );
    }

    #[test]
    fn arguments_that_were_broken_are_what_the_model_wrote() {
        let trace = read(
            r#"{"schema_version": "ATIF-v1.7", "steps": [{"source": "agent", "tool_calls": [
            {"function_name": "a", "arguments": {}, "extra": {"raw_arguments": "{\"x\": "}},
            {"function_name": "b", "arguments": {"x": 1}, "extra": {"raw_arguments": "{\"x\": 1}"}},
            {"tool_call_id": "c", "function_name": "c", "arguments": {"input": "*** Begin"}}],
            "extra": {"tool_call_details": {"c": {"item_type": "custom_tool_call", "raw_arguments": "*** Begin"}}}}]}"#,
        );
        assert_eq!(shown(&trace), [r#"a({"x": )=- b({"x":1})=- c({"input":"*** Begin"})=-"#]);
    }
}
