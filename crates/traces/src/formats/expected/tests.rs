//! The shapes are those that evaluation libraries document (`DeepEval`, Ragas, `MLflow`, promptfoo's tables, pandas' `to_csv`), and
//! the plainest ones that a team may write.

use crate::testing::{CollectingSink, read_text, shown};
use crate::trace::{Trace, TraceKind};

fn read(name: &str, text: &str) -> CollectingSink {
    let (format, kept) = read_text(name, text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(format, "expected-calls", "{text}");
    kept
}

/// The id, the question and the steps of a trace.
fn in_short(trace: &Trace) -> String {
    let question = trace.question.as_ref().map(crate::content::Content::text).unwrap_or_default();
    let steps: Vec<String> = shown(trace).into_iter().map(|step| step.replace("=-", "")).collect();
    format!("{} {question} {}", trace.id.as_deref().unwrap_or("-"), steps.join(" > "))
}

fn all(name: &str, text: &str) -> Vec<String> {
    read(name, text).traces.iter().map(in_short).collect()
}

#[test]
fn records_of_any_writing_are_read() {
    for record in [
        r#"{"id": "a", "question": "Q", "expected_tool_calls": [{"name": "s/f", "arguments": {"x": 1}}, {"name": "g", "arguments": {}}]}"#,
        r#"{"task_id": "a", "input": "Q", "tool_calls": [{"tool": "s/f", "args": {"x": 1}}, {"tool": "g", "args": {}}]}"#,
        r#"{"case": "a", "prompt": "Q", "calls": [{"function": {"name": "mcp__s__f", "arguments": "{\"x\": 1}"}}, {"function": {"name": "g", "arguments": ""}}]}"#,
        r#"{"id": "a", "query": "Q", "steps": [{"tool": "s/f", "args": {"x": 1}}, {"tool": "g", "args": {}}]}"#,
        r#"{"id": "a", "input": {"question": "Q"}, "tools_called": [{"name": "s/f", "input_parameters": {"x": 1}}, {"name": "g", "input_parameters": {}}]}"#,
        r#"{"id": "a", "question": "Q", "expected": [{"s/f": {"x": 1}}, {"g": {}}]}"#,
        r#"{"id": "a", "question": "Q", "solution": [{"name": "s/f", "arguments": {"x": 1}}, {"name": "g", "arguments": {}}]}"#,
        r#"{"id": "a", "question": "Q", "expectedTools": ["s/f(x=1)", "g()"]}"#,
        r#"{"id": "a", "input": [{"role": "user", "content": "Q"}], "reference_tool_calls": "[{\"name\": \"s/f\", \"args\": {\"x\": 1}}, {\"name\": \"g\", \"args\": {}}]"}"#,
        r#"{"id": "a", "question": "Q", "expected_tools": ["s/f", "g"], "expected_args": [{"x": 1}, {}]}"#,
        r#"{"id": "a", "question": "Q", "expected_tools": ["s/f", "g"], "expected_args": {"s/f": {"x": 1}, "g": {}}}"#,
    ] {
        assert_eq!(
            all("a.jsonl", &format!("{record}\n{record}"))[0],
            r#"a Q s/f({"x":1}) > g({})"#,
            "{record}"
        );
    }
    assert_eq!(
        all("a.json", r#"[{"id": 1, "question": "Q", "expected_tools": ["f", "g"]}]"#),
        ["1 Q f(-) > g(-)"]
    );
    let nested = r#"{"id": "a", "expected_calls": [[{"name": "f", "args": {}}, "g"], {"tool_calls": [{"name": "h", "args": {}}]}]}"#;
    assert_eq!(all("a.json", nested), ["a  f({}) g(-) > h({})"]);
}

#[test]
fn tables_of_any_writing_are_read() {
    let both = ["1 Q, R f({\"x\":1}) > g({})", "2 S f(-) > g(-)", "3 T "];
    let json = r#""[{""name"": ""f"", ""arguments"": {""x"": 1}}, {""name"": ""g"", ""arguments"": {}}]""#;
    let python = r#""[{'name': 'f', 'arguments': {'x': 1}}, {'name': 'g', 'arguments': {}}]""#;
    for calls in [json, python, r#""f(x=1); g()""#] {
        let text = format!("id,question,expected_tool_calls\r\n1,\"Q, R\",{calls}\r\n2,S,f;g\r\n3,T,\r\n");
        assert_eq!(all("a.csv", &text), both, "{calls}");
        // The name of the file does not matter, and neither does a mark of the byte order.
        assert_eq!(all("table", &format!("\u{feff}{text}")), both, "{calls}");
    }
    assert_eq!(all("a.csv", "id;prompt;tools_called\n1;Q;f,g\n"), ["1 Q f(-) > g(-)"]);
    assert_eq!(all("a.tsv", "case\tquery\ttools_used\nc\tQ\tf -> g\n"), ["c Q f(-) > g(-)"]);
    let split = "question,expected_tool,expected_args\nQ,f,\"{\"\"x\"\": 1}\"\nR,g,\n";
    assert_eq!(all("a.csv", split), ["0 Q f({\"x\":1})", "1 R g(-)"]);
}

#[test]
fn rows_with_one_call_each_are_one_task() {
    let text = "task_id,step,tool,arguments\nb,1,f,{}\na,1,f,\"{\"\"x\"\": 1}\"\na,2,g,{}\na,2,h,{}\n";
    assert_eq!(all("a.csv", text), ["b  f({})", "a  f({\"x\":1}) > g({}) h({})"]);
    let lines =
        "{\"id\": \"a\", \"tool\": \"f\", \"args\": {}}\n{\"id\": \"a\", \"tool\": \"g\", \"args\": {}}\n";
    assert_eq!(all("a.jsonl", lines), ["a  f({}) > g({})"]);
}

#[test]
fn calls_that_should_be_made_stand_beside_those_that_were() {
    let text = r#"[{"input": "Q", "actual_output": "no", "expected_output": "yes",
        "tools_called": [{"name": "f", "input_parameters": {}}], "expected_tools": [{"name": "g"}]}]"#;
    let trace = read("a.json", text).traces.remove(0);
    let reference = trace.reference.as_ref().unwrap();
    assert_eq!((in_short(&trace), in_short(reference)), ("0 Q f({})".to_owned(), "- Q g(-)".to_owned()));
    assert_eq!((trace.final_reply.as_deref(), reference.final_reply.as_deref()), (Some("no"), Some("yes")));
    assert_eq!((trace.kind, reference.kind), (TraceKind::Prediction, TraceKind::Reference));
    let unsaid = r#"[{"tool_calls": ["f"], "expected_tools": ["g"]}]"#;
    assert_eq!(in_short(read("a.json", unsaid).traces[0].reference.as_ref().unwrap()), "-  g(-)");
}

#[test]
fn arguments_and_rows_of_both_kinds_stay_apart() {
    let heading = "id,expected_tool,expected_args,actual_tool,actual_args\n";
    let row = "t1,search,\"{\"\"q\"\": \"\"right\"\"}\",search,\"{\"\"q\"\": \"\"wrong\"\"}\"\n";
    let further = "t1,open,{},close,{}\n";
    let trace = read("a.csv", &format!("{heading}{row}{further}")).traces.remove(0);
    assert_eq!(in_short(&trace), r#"t1  search({"q":"wrong"}) > close({})"#);
    assert_eq!(in_short(trace.reference.as_ref().unwrap()), r#"t1  search({"q":"right"}) > open({})"#);
    let plain = r#"[{"id": "a", "expected_tools": ["f"], "tool": "g", "args": {"x": 1}}]"#;
    let trace = read("a.json", plain).traces.remove(0);
    assert_eq!(in_short(&trace), r#"a  g({"x":1})"#);
    assert_eq!(in_short(trace.reference.as_ref().unwrap()), "a  f(-)");
}

#[test]
fn a_row_whose_calls_cannot_be_read_is_an_error() {
    for (name, text) in [
        ("a.csv", "id,expected_tools\n1,I would rather look it up in the handbook first.\n"),
        ("a.csv", "id,expected_tool_calls\n1,\"[{'name': }]\"\n"),
        ("a.csv", "id,expected_tools\n1,f,g\n"),
        ("a.csv", "id,tool_calls,tokens\n1,3,500\n"),
        ("a.json", r#"[{"id": 1, "expected_tool_calls": [{"args": {}}]}]"#),
        ("a.json", r#"[{"id": 1, "expected_tools": [3, null]}]"#),
    ] {
        let error = read_text(name, text).map(|(format, kept)| (format, kept.traces)).unwrap_err();
        assert!(error.contains("could be read"), "{text}: {error}");
    }
    let kept =
        read("a.json", r#"[{"id": 1, "expected_tool_calls": [{"name": "f", "args": {}}, {"args": {}}]}]"#);
    let notes: Vec<&str> = kept.traces[0].notes.iter().map(|(note, _)| note).collect();
    assert!(notes.contains(&"items among the calls that name no tool are left out"), "{notes:?}");
    let kept = read("a.json", r#"[{"id": 1, "expected_tools": ["f"]}, {"id": 2, "note": "x"}]"#);
    assert_eq!((kept.traces.len(), kept.warnings.len()), (1, 1));
}

#[test]
fn what_only_looks_like_such_a_file_is_not_taken() {
    for text in [
        r#"[{"id": "a", "question": "Q"}]"#,
        r#"[{"id": "a", "steps": ["Open the page.", "Click on the button."]}]"#,
        r#"[{"id": "a", "steps": [{"action": "Open the page", "expected": "It is there"}]}]"#,
        r#"[{"id": "a", "steps": [{"calls": [{"name": "f", "arguments": {}}]}]}]"#,
        r#"[{"id": "a", "tools": ["f", "g"]}]"#,
        r#"[{"id": "a", "question": "Q", "expected": "Paris"}]"#,
        r#"[{"id": "a", "question": "Q", "reference": ["Paris", "London"]}]"#,
        r#"[{"id": "a", "question": "Q", "expected_steps": ["Open the page, then click."]}]"#,
        r#"[{"id": "a", "question": "Q", "steps": []}]"#,
        r#"[{"id": "a", "functions": [{"name": "f", "parameters": {"type": "object", "properties": {}}}]}]"#,
        r#"{"schema": "m3.score/1", "tool_calls": ["f"]}"#,
        "id,question,answer\n1,Q,A\n",
        "Dear all,\nthe calls, as you asked,\n",
        "# Tool calls\n\nIt is there.\n",
        r#"{"id": 1, "prompt": "Q", "function": "add", "tests": ["add(1, 2)"]}"#,
        r#"{"id": "c1", "tool": "search", "args": {"q": 1}, "result": "r"}"#,
        r#"{"id": 1, "scores": [{"f": {"x": 1}}]}"#,
        r#"{"id": 1, "tool_calls": 3, "messages": [{"role": "user", "content": "Q"}]}"#,
    ] {
        let name = read_text("a.json", text).map(|(name, _)| name);
        assert_ne!(name, Ok("expected-calls"), "{text}");
    }
}
