//! Tests of calls that are recorded, made up, refused, or fail.

use m3_mcp::Content;

use super::*;

#[test]
fn tools_are_offered_with_all_that_the_catalog_says() {
    let server = wiki(&json!([]), Behaviour::default());
    assert_eq!(server.name(), "wiki");
    assert_eq!(server.tools(), catalog().servers[0].tools);
    assert_eq!(server.tools()[0].extra["annotations"], json!({"readOnlyHint": true}));
    assert_eq!(answer(&*server, "nothing", json!({})), Some(Answer::UnknownTool));
}

#[test]
fn a_recorded_call_gets_its_result_whatever_the_order_of_its_keys() {
    let server = wiki(
        &json!([
            {"name": "wiki/plain", "arguments": {"x": 5, "y": "a"}, "result": "five"},
            {"name": "wiki/search", "arguments": {"query": "q", "limit": 10}, "result": [{"type": "text", "text": "hit"}]},
            {"name": "wiki/plain", "result": "none"},
        ]),
        Behaviour::default(),
    );
    let five = result(&*server, "plain", json!({"y": "a", "x": 5.0}));
    assert_eq!((five.content.as_slice(), five.is_error), (&[Content::Text("five".to_owned())][..], false));
    assert_eq!(marks(&five), ["m3/recorded"]);
    // Giving an optional argument its default is the same as leaving it out.
    assert_eq!(result(&*server, "search", json!({"query": "q"})).all_text(), "hit");
    // Recorded without arguments.
    assert_eq!(result(&*server, "plain", json!({})).all_text(), "none");
    assert_eq!(marks(&result(&*server, "plain", json!({"x": 6}))), ["m3/simulated"]);
}

#[test]
fn what_was_recorded_of_tools_call_comes_back_whole() {
    let wire = json!({"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}],
        "structuredContent": {"count": 1, "query": "q"}, "_meta": {"own": 1}});
    let calls = json!([
        {"name": "wiki/count", "arguments": {"a": 1}, "result": wire},
        {"name": "wiki/count", "arguments": {"a": 2}, "result": {"content": [], "isError": true}},
        {"name": "wiki/count", "arguments": {"a": 3}, "result": "broken", "is_error": true},
    ]);
    let server = wiki(&calls, Behaviour::default());
    let mut whole = result(&*server, "count", json!({"a": 1})).to_wire();
    assert_eq!(whole["_meta"], json!({"own": 1, "m3/recorded": true}));
    whole["_meta"] = json!({"own": 1});
    assert_eq!(whole, wire);
    assert!(result(&*server, "count", json!({"a": 2})).is_error);
    let broken = result(&*server, "count", json!({"a": 3}));
    assert!(broken.is_error && broken.all_text() == "broken");
}

#[test]
fn a_recorded_text_gets_the_structure_that_the_schema_asks_for() {
    let calls = json!([
        {"name": "wiki/summary", "arguments": {}, "result": "An apple."},
        {"name": "wiki/search", "arguments": {"query": "q"}, "result": "[{\"a\": 1}]"},
        {"name": "wiki/search", "arguments": {"query": "r"}, "result": "no list"},
        {"name": "wiki/count", "arguments": {}, "result": {"count": 3, "query": "q"}},
    ]);
    let server = wiki(&calls, Behaviour::default());
    let structured = |tool, arguments| result(&*server, tool, arguments).structured_content;
    assert_eq!(structured("summary", json!({})), Some(json!({"result": "An apple."})));
    assert_eq!(structured("search", json!({"query": "q"})), Some(json!({"result": [{"a": 1}]})));
    assert_eq!(structured("search", json!({"query": "r"})), None);
    assert_eq!(structured("count", json!({})), Some(json!({"count": 3, "query": "q"})));
}

#[test]
fn a_call_recorded_several_times_gives_its_results_in_order_and_then_the_last() {
    let call = |result: &str| json!({"name": "wiki/plain", "arguments": {"x": 1}, "result": result});
    let server = wiki(&json!([call("first"), call("second"), call("third")]), Behaviour::default());
    let texts = |server: &dyn m3_mcp::Toolbox| -> Vec<String> {
        (0..5).map(|_| result(server, "plain", json!({"x": 1})).all_text()).collect()
    };
    assert_eq!(texts(&*server), ["first", "second", "third", "third", "third"]);
    // An instance for another task starts from the beginning.
    assert!(server.has_memory());
    assert_eq!(texts(&*server.fresh().unwrap()), ["first", "second", "third", "third", "third"]);
}

#[test]
fn calls_without_a_usable_record_are_counted() {
    let catalog = catalog();
    let calls = json!([
        {"name": "wiki/plain", "arguments": {}, "result": "a"},
        {"name": "wiki/plain", "arguments": {}, "result": null},
        {"name": "wiki/plain", "arguments": {}},
        {"name": "wiki/other", "arguments": {}, "result": "a"},
        {"name": "plain", "arguments": {}, "result": "a"},
        {"name": "wiki/plain", "arguments": "x", "result": "a"},
    ]);
    let counts = recordings(&catalog, &calls).counts();
    assert_eq!(
        counts,
        RecordingCounts { recorded: 1, superseded: 0, without_result: 2, unknown_tool: 2, unusable: 1 }
    );
}

#[test]
fn a_result_is_made_from_the_schema_and_the_arguments_and_says_so() {
    let server = wiki(&json!([]), Behaviour { seed: 3, ..Behaviour::default() });
    let counted = result(&*server, "count", json!({"query": "apples"}));
    let structured = counted.structured_content.clone().unwrap();
    assert_eq!(structured["query"], "apples");
    assert!(structured["count"].as_i64().unwrap() >= 0);
    // The structure as text (which MCP, "Structured Content", requires), then the mark.
    assert_eq!(counted.content, [Content::Text(structured.to_string()), Content::Text(MARK.to_owned())]);
    assert_eq!(marks(&counted), ["m3/simulated"]);
    // A list item by item, as Python's servers write it.
    let search = result(&*server, "search", json!({"query": "apples"}));
    let items = search.structured_content.as_ref().unwrap()["result"].as_array().unwrap();
    assert_eq!(search.content.len(), items.len() + 1);
    let text = "simulated result of `summary` for {\"title\":\"Apple\"}";
    let summary = result(&*server, "summary", json!({"title": "Apple"}));
    assert_eq!(summary.structured_content, Some(json!({"result": text})));
    let plain = result(&*server, "plain", json!({"x": 1}));
    assert_eq!(plain.all_text(), "simulated result of `plain` for {\"x\":1}");
}

#[test]
fn the_same_call_gets_the_same_answer_in_every_instance_and_on_every_thread() {
    let made = |server: &SimulatedServer, query: usize| {
        result(server, "search", json!({"query": query.to_string()})).to_wire().to_string()
    };
    let behaviour = Behaviour { seed: 11, ..Behaviour::default() };
    let server = wiki(&json!([]), behaviour);
    let expected: Vec<String> = (0..30).map(|query| made(&server, query)).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let other = wiki(&json!([]), behaviour);
                for query in (0..30).rev() {
                    assert_eq!(made(&server, query), expected[query]);
                    assert_eq!(made(&other, query), expected[query]);
                }
            });
        }
    });
    let other = wiki(&json!([]), Behaviour { seed: 12, ..Behaviour::default() });
    assert!((0..30).any(|query| made(&other, query) != expected[query]));
}

#[test]
fn strict_servers_make_nothing_up() {
    let calls = json!([{"name": "wiki/plain", "arguments": {"x": 1}, "result": "one"}]);
    let server = wiki(&calls, Behaviour { is_strict: true, ..Behaviour::default() });
    assert_eq!(result(&*server, "plain", json!({"x": 1})).all_text(), "one");
    let other = result(&*server, "plain", json!({"x": 2}));
    assert!(other.is_error);
    assert_eq!(other.all_text(), "no recording of `wiki/plain` with the arguments {\"x\":2}");
    assert!(other.all_text().starts_with(NO_RECORDING));
    assert_eq!(marks(&other), ["m3/no-recording", "m3/simulated"]);
    // Arguments that the schema does not accept are refused first, as by the real server.
    assert_eq!(marks(&result(&*server, "plain", json!({"x": "2"}))), ["m3/refused", "m3/simulated"]);
}

#[test]
fn invalid_arguments_are_refused_unless_that_very_call_was_recorded() {
    let calls = json!([{"name": "wiki/search", "arguments": {"q": "x"}, "result": "it went through"}]);
    let server = wiki(&calls, Behaviour::default());
    let refused = result(&*server, "search", json!({"limit": 1}));
    assert!(refused.is_error && refused.structured_content.is_none());
    assert_eq!(
        refused.all_text(),
        "Error executing tool search: 1 validation error for searchArguments\nquery\n  Field required \
         [type=missing, input_value={'limit': 1}, input_type=dict]"
    );
    assert_eq!(result(&*server, "search", json!({"q": "x"})).all_text(), "it went through");
}

fn faulty(faults: Faults) -> Arc<SimulatedServer> {
    wiki(&json!([]), Behaviour { seed: 1, faults, ..Behaviour::default() })
}

#[test]
fn servers_crash_hang_and_fail_as_asked() {
    let crashing = faulty(Faults { crash_rate: 1.0, ..Faults::default() });
    assert_eq!(answer(&*crashing, "plain", json!({})), Some(Answer::Crash));
    let hanging = faulty(Faults { hang_rate: 1.0, ..Faults::default() });
    assert_eq!(answer_within(1, &*hanging, "plain", json!({})), None);
    let failing = faulty(Faults { failure_rate: 1.0, ..Faults::default() });
    let results: Vec<ToolResult> = (0..200).map(|_| result(&*failing, "plain", json!({}))).collect();
    assert!(results.iter().all(|result| marks(result) == ["m3/fault", "m3/simulated"]));
    assert!(results.iter().any(|result| result.is_error && !result.content.is_empty()));
    assert!(results.iter().any(|result| !result.is_error && result.all_text().starts_with("Error")));
    assert!(results.iter().any(|result| !result.is_error && result.content.is_empty()));
    assert_eq!(answer(&*crashing, "nothing", json!({})), Some(Answer::UnknownTool));
}

#[test]
fn a_failure_that_only_its_text_tells_of_keeps_to_the_output_schema() {
    let failing = faulty(Faults { failure_rate: 1.0, ..Faults::default() });
    for tool in ["search", "summary", "count"] {
        let schema =
            catalog().servers[0].tools.iter().find(|other| other.name == tool).unwrap().output_schema.clone();
        let validator = jsonschema::validator_for(&Value::Object(schema.unwrap())).unwrap();
        let results: Vec<ToolResult> =
            (0..100).map(|number| result(&*failing, tool, json!({"query": "q", "limit": number}))).collect();
        for value in results.iter().filter_map(|result| result.structured_content.as_ref()) {
            assert!(validator.is_valid(value), "{value}");
        }
        // `count` cannot hold a text.
        let succeeds = |result: &ToolResult| !result.is_error && !result.content.is_empty();
        assert_eq!(results.iter().any(succeeds), tool != "count");
    }
}

#[test]
fn a_retry_may_succeed_and_a_run_repeats_whatever_the_order_of_its_calls() {
    let fails = |server: &SimulatedServer, x: usize| {
        result(server, "plain", json!({"x": x})).extra["_meta"].get("m3/fault").is_some()
    };
    let faults = Faults { failure_rate: 0.5, ..Faults::default() };
    let server = faulty(faults);
    let rounds: Vec<Vec<bool>> = (0..8).map(|_| (0..20).map(|x| fails(&server, x)).collect()).collect();
    // Of 20 calls made 8 times, half failing, 20 * 2 * 2^-8 < 0.2 are expected to fail, or not, every time.
    let changing = (0..20).filter(|&x| rounds.iter().any(|round| round[x] != rounds[0][x])).count();
    assert!(changing >= 17, "{changing}");
    let again = faulty(faults);
    for x in (0..20).rev() {
        for round in &rounds {
            assert_eq!(fails(&again, x), round[x]);
        }
    }
}

#[test]
fn results_are_late_as_asked() {
    let server = faulty(Faults { delay: Delay::Between(0.05, 0.06), ..Faults::default() });
    let start = std::time::Instant::now();
    result(&*server, "plain", json!({}));
    // Only the lower limit is checked: how late the answer really is depends on the machine.
    assert!(start.elapsed() >= std::time::Duration::from_millis(50));
    let never = faulty(Faults { delay: Delay::Between(3_000.0, 3_000.0), ..Faults::default() });
    assert_eq!(answer_within(1, &*never, "plain", json!({})), None);
}
