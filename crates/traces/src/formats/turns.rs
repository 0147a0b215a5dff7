//! Results of agents that act in turns, each with an action and what was observed: `ReAct` of `DSPy` has them under numbered names, agents
//! of `LangChain` as `intermediate_steps`.

use crate::formats::prelude::*;

/// The format of such results, recognized by the name of the first tool, or by the steps.
pub(super) const TURNS: Format = Format {
    name: "react-turns",
    title: "results of agents that act in turns: DSPy's ReAct, LangChain's intermediate steps",
    recognizes: |head| {
        head.any(|record| {
            turns(record).has("tool_name_0")
                || !record.has("messages") && steps(record).iter().any(|step| action(step).is_some())
        })
    },
    read: |input, sink| {
        input.records(sink, |sink, at, record| {
            let mut it = result(record);
            it.id = at.id(record.id("id"));
            sink.trace(at.line, it.finish())
        })
    },
};

/// What is said of a step that is none of these.
const UNREAD: &str = "a step whose action is not understood is left out";

/// The tool with which the agent ends; it takes no arguments.
const END: &str = "finish";

fn turns(record: &Json) -> &Json {
    record.member("trajectory").unwrap_or(record)
}

/// The intermediate steps of a result.
fn steps(record: &Json) -> &[Json] {
    record.first_list(&["intermediate_steps", "intermediateSteps"])
}

/// The call of a step, `{"action": {"tool": .., "toolInput": ..}, "observation": ..}` or `[action, observation]`, with what was
/// observed.
fn action(step: &Json) -> Option<TracedCall> {
    let (action, observation) = match step.items() {
        [action, observation] => (action, Some(observation)),
        _ => (step.member("action")?, step.member("observation")),
    };
    let input = action.first(&["tool_input", "toolInput"]);
    Some(TracedCall {
        result: observation.cloned(),
        ..TracedCall::new(None, tool(None, action.text("tool")?), arguments(input))
    })
}

fn result(record: &Json) -> Conversation {
    let mut it = Conversation::default();
    let question = record.first_text(&["question", "query", "input"]);
    if let Some(text) = question {
        it.user(Content::of_text(text));
    }
    let turns: HashMap<&str, &Json> =
        members(turns(record)).iter().map(|(key, value)| (key.as_str(), value)).collect();
    let turn = |name: &str, number: usize| turns.get(format!("{name}_{number}").as_str()).copied();
    let mut count = 0;
    while let Some(name) = turn("tool_name", count).and_then(Json::as_str) {
        count += 1;
        if name == END {
            break;
        }
        it.step(vec![TracedCall {
            result: turn("observation", count - 1).cloned(),
            ..TracedCall::new(None, tool(None, name), arguments(turn("tool_args", count - 1)))
        }]);
    }
    let all = turns.keys().filter(|key| key.starts_with("tool_name_")).count();
    for step in steps(record) {
        match action(step) {
            Some(call) => it.step(vec![call]),
            None => it.note(UNREAD),
        }
    }
    (count..all).for_each(|_| it.note(UNREAD));
    let answer = record.first_text(&["answer", "response", "output"]);
    it.answer = Answer::Stated(answer.map(str::to_owned));
    it
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    /// The members are those of `Prediction.toDict()` of `DSPy` 3.
    #[test]
    fn turns_have_numbered_names() {
        let text = r#"{"trajectory": {"thought_0": "t", "tool_name_0": "a", "tool_args_0": {"x": 1}, "observation_0": "r", "tool_name_1": "finish",
            "tool_args_1": {}, "observation_1": "Completed."}, "reasoning": "t", "answer": "A."}"#;
        let (format, kept) = read_text("prediction.json", text).unwrap();
        assert_eq!((format, shown(&kept.traces[0])), ("react-turns", vec![r#"a({"x":1})=r"#.to_owned()]));
        assert_eq!(kept.traces[0].final_reply.as_deref(), Some("A."));
    }

    /// The members are those of `LangChain`'s `AgentExecutor`, in Python and in JavaScript, after its documentation.
    #[test]
    fn intermediate_steps_have_an_action_and_an_observation() {
        for step in [
            r#"{"action": {"tool": "a", "toolInput": {"x": 1}, "log": "t"}, "observation": "r"}"#,
            r#"[{"tool": "a", "tool_input": {"x": 1}, "log": "t"}, "r"]"#,
            r#"[{"tool": "a", "tool_input": {"x": 1}}, "r"], {"action": "unknown"}"#,
        ] {
            let text = format!(r#"[{{"input": "Q?", "output": "A.", "intermediate_steps": [{step}]}}]"#);
            let (_, kept) = read_text("results.json", &text).unwrap();
            let trace = &kept.traces[0];
            assert_eq!(
                (shown(trace), trace.final_reply.as_deref()),
                (vec![r#"a({"x":1})=r"#.to_owned()], Some("A."))
            );
        }
    }
}
