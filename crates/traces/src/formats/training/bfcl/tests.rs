//! Results, answers and what is neither.

use m3_trajectory::json::{Keys, parse};

use super::*;
use crate::trace::Trace;

fn json(text: &str) -> Json {
    parse(text.as_bytes()).unwrap().0
}

fn shown(trace: &Trace) -> Vec<Vec<String>> {
    let call = |call: &TracedCall| {
        format!("{}{}", call.tool, call.arguments.as_ref().unwrap().to_text(Keys::AsRead))
    };
    trace.steps.iter().map(|step| step.iter().map(call).collect()).collect()
}

fn of_result(text: &str) -> Trace {
    let mut conversation = Conversation::default();
    result(&mut conversation, &json(text));
    conversation.finish()
}

fn of_answer(text: &str) -> Trace {
    let mut conversation = Conversation::default();
    answer(&mut conversation, json(text).items());
    conversation.finish()
}

#[test]
fn results_of_every_mode() {
    let prompting = of_result(r#""[a.b(x=1, y='z'), c()]""#);
    assert_eq!(shown(&prompting), [[r#"a.b{"x":1,"y":"z"}"#, "c{}"]]);
    let turns = of_result(r#"[["[a(x=1)]", "[b(), c('p')]", "Done."], [[{"d": "{\"x\""}], "It is 5."], []]"#);
    assert_eq!(shown(&turns), [vec![r#"a{"x":1}"#], vec!["b{}", r#"c"'p'""#], vec![r#"d"{\"x\"""#]]);
    assert_eq!(turns.final_reply.as_deref(), Some("It is 5."));
    assert_eq!(
        of_result(r#""No function fits (sorry).""#).final_reply.as_deref(),
        Some("No function fits (sorry).")
    );
    assert_eq!(sum(&json("[[1, 2], [3]]")), Some(6));
}

#[test]
fn the_first_allowed_value_is_taken() {
    let trace = of_answer(
        r#"[{"a": {"x": [1, 2], "unit": ["", "c"], "y": ["c", ""], "d": [{"k": [5], "l": [""]}], "s": [[1, 2]], "e": []}}, {"b": {}}]"#,
    );
    assert_eq!(shown(&trace), [[r#"a{"x":1,"y":"c","d":{"k":5},"s":[1,2]}"#, "b{}"]]);
    assert_eq!(trace.notes.iter().map(|(_, count)| count).collect::<Vec<_>>(), [3]);
    let (key, accepted) = &trace.steps[0][0].extra[0];
    assert_eq!((key.as_str(), accepted.pointer("/unit/1")), ("accepted", Some(&json(r#""c""#))));
}

#[test]
fn calls_of_several_turns_are_texts() {
    let trace = of_answer(r#"[["cd(folder='x')", "sort('f')"], [], ["echo(content='a', n=None)"]]"#);
    assert_eq!(
        shown(&trace),
        [[r#"cd{"folder":"x"}"#], [r#"sort"'f'""#], [r#"echo{"content":"a","n":null}"#]]
    );
}

#[test]
fn a_result_in_words_may_hold_calls() {
    for (text, steps, answer) in [
        (
            r#"<tool_call>\\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\\n</tool_call>"#,
            vec![r#"f{"a":1}"#],
            None,
        ),
        (r"[f(a=1)]\\n\\nThis computes it.", vec![r#"f{"a":1}"#], None),
        ("I cannot do that.", Vec::new(), Some("I cannot do that.")),
    ] {
        let value = json(&format!(r#"{{"id": "simple_python_0", "result": "{text}"}}"#));
        assert!(is_result(&value), "{text}");
        let trace = calls_of(&value, None, &TaskFacts::from_json(&value)).unwrap();
        assert_eq!(shown(&trace).concat(), steps, "{text}");
        assert_eq!(trace.final_reply.as_deref(), answer, "{text}");
    }
}

#[test]
fn other_results_are_not_of_bfcl() {
    for other in [
        r#"{"id": "task_3", "result": "done", "latency": 1.2}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "result": [{"a": 1}]}"#,
        r#"{"id": 1, "result": "some text"}"#,
        r#"{"id": 1, "result": {"content": []}}"#,
        r#"{"id": 1, "result": [1]}"#,
    ] {
        assert!(!is_result(&json(other)), "{other}");
    }
    assert!(is_result(&json(r#"{"id": "x", "result": [{"f": "{}"}]}"#)));
    assert!(is_result(&json(r#"{"id": "x", "result": "text", "input_token_count": 1}"#)));
}
