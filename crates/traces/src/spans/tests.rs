use super::*;
use m3_trajectory::json::parse;

fn json(text: &str) -> Json {
    parse(text.as_bytes()).unwrap().0
}

/// The spans of each trace of a file with these lines, also where its lines are pages of one list.
fn traces(lines: &[&str]) -> Vec<Vec<Span>> {
    let one_each: Vec<String> = lines.iter().map(|line| line.replace('\n', " ")).collect();
    let traces = of_file(&one_each.join("\n"));
    let of_list = of_file(&format!("\n[{}]", lines.join(",\n")));
    assert_eq!(format!("{traces:?}"), format!("{of_list:?}"));
    traces
}

fn of_file(text: &str) -> Vec<Vec<Span>> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    let source = m3_trajectory::Source::open(file.path()).unwrap();
    let head = crate::head::Head::read(&source).unwrap();
    let (input, mut sink) = (Input::new(&source, &head), crate::testing::CollectingSink::default());
    let (found, mut all) = (find(&input, &mut sink).unwrap(), Vec::new());
    let give = |_: &mut dyn Sink, spans| {
        all.push(spans);
        Ok(())
    };
    found.each(&input, &mut sink, &HashMap::new(), |spans| spans, give).unwrap();
    all
}

#[test]
fn every_spelling_is_the_same_span() {
    let spellings = [
        r#"{"resourceSpans": [{"scopeSpans": [{"scope": {"name": "lib"}, "spans": [{"traceId": "0102030405060708090A0B0C0D0E0F10",
            "spanId": "A1B2C3D4E5F60718", "parentSpanId": "", "startTimeUnixNano": "5", "endTimeUnixNano": 9,
            "status": {"code": 2, "message": "no"}, "attributes": [{"key": "n", "value": {"intValue": "7"}},
            {"key": "o", "value": {"kvlistValue": {"values": [{"key": "x", "value": {}}]}}}]}]}]}]}"#,
        r#"{"resource_spans": [{"scope_spans": [{"scope": {"name": "lib"}, "spans": [{"trace_id": "AQIDBAUGBwgJCgsMDQ4PEA==",
            "span_id": "obLD1OX2Bxg=", "parent_span_id": "0000000000000000", "start_time_unix_nano": 5, "end_time_unix_nano": "9",
            "status": {"code": "STATUS_CODE_ERROR", "message": "no"}, "attributes": [
            {"key": "n", "value": {"string_value": null, "int_value": 7}},
            {"key": "o", "value": {"kvlist_value": {"values": [{"key": "x", "value": {"string_value": null}}]}}}]}]}]}]}"#,
    ];
    for spelling in spellings {
        let all = traces(&[spelling]);
        let span = &all[0][0];
        assert_eq!((&*span.trace, &*span.id), ("0102030405060708090a0b0c0d0e0f10", "a1b2c3d4e5f60718"));
        assert_eq!((&span.parent, span.start, span.end), (&None, Some(5), Some(9)));
        assert_eq!((span.status, span.message.as_deref(), &*span.scope), (Status::Failed, Some("no"), "lib"));
        assert_eq!(span.attributes.count(&["n"]), Some(7));
        assert_eq!(span.attributes.get("o"), Some(&json(r#"{"x": null}"#)));
    }
}

#[test]
fn a_span_of_phoenix_has_its_kind_and_its_times() {
    let all = traces(&[
        r#"{"data": [{"name": "x", "context": {"trace_id": "t", "span_id": "s"}, "span_kind": "TOOL",
        "parent_id": null, "start_time": "1970-01-01T00:00:01.5+00:00", "status_code": "OK", "attributes": {"a.0.b": 1}}]}"#,
    ]);
    let span = &all[0][0];
    assert_eq!((&*span.trace, span.start, span.status), ("t", Some(1_500_000_000), Status::Fine));
    assert_eq!(span.attributes.text("openinference.span.kind"), Some("TOOL"));
    assert_eq!(span.attributes.tree("a"), Some(json(r#"[{"b": 1}]"#)));
}

#[test]
fn spans_are_by_trace_and_time_and_each_is_there_once() {
    let line = |trace: &str, id: &str, start: u64| {
        format!(
            r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{{"traceId": "{trace}", "spanId": "{id}", "startTimeUnixNano": {start}}}]}}]}}]}}"#
        )
    };
    let lines = [line("b", "1", 9), line("a", "2", 5), line("b", "3", 4), line("b", "1", 9)];
    let all = traces(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let ids: Vec<Vec<&str>> = all.iter().map(|spans| spans.iter().map(|span| &*span.id).collect()).collect();
    assert_eq!(ids, [vec!["3", "1"], vec!["2"]]);
}

#[test]
fn records_are_events_of_their_spans_or_of_a_span_of_their_own() {
    let records = r#"{"resourceLogs": [{"scopeLogs": [{"logRecords": [
        {"traceId": "t", "spanId": "s", "eventName": "gen_ai.choice", "body": {"stringValue": "x"}, "observedTimeUnixNano": "3"},
        {"traceId": "t", "spanId": "gone", "attributes": [{"key": "event.name", "value": {"stringValue": "e"}}], "timeUnixNano": 4},
        {"traceId": "t", "eventName": "gen_ai.user.message"}, {"traceId": "t", "eventName": "gen_ai.choice"},
        {"traceId": "t", "eventName": "gen_ai.user.message"}]}]}]}"#;
    let spans = r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t", "spanId": "s", "name": "chat"}]}]}]}"#;
    let all = traces(&[records, spans]);
    let events = |span: &Span| span.events.iter().map(|event| event.name.clone()).collect::<Vec<_>>();
    let spans: Vec<(String, Vec<String>)> =
        all[0].iter().map(|span| (span.id.clone(), events(span))).collect();
    let with_events = |id: &str, names: &[&str]| {
        (id.to_owned(), names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(
        spans,
        [
            with_events("record-0", &["gen_ai.user.message", "gen_ai.choice"]),
            with_events("record-1", &["gen_ai.user.message"]),
            with_events("s", &["gen_ai.choice"]),
            with_events("gone", &["e"]),
        ]
    );
    assert_eq!(all[0][2].name, "chat");
}

#[test]
fn parents_may_be_missing_or_in_a_circle() {
    let span = |id: &str, parent: Option<&str>| Span {
        id: id.to_owned(),
        parent: parent.map(str::to_owned),
        ..Span::default()
    };
    let spans = [
        span("a", Some("b")),
        span("b", Some("a")),
        span("c", Some("gone")),
        span("d", Some("c")),
        span("e", Some("e")),
        span("", Some("")),
    ];
    let order = parents_first(&spans);
    assert_eq!(order, [(2, None), (3, Some(2)), (5, None), (0, None), (1, Some(0)), (4, None)]);
}

#[test]
fn attributes_are_found_flat_and_nested() {
    let mut attributes = Attributes::default();
    for (key, value) in
        [("a.10.x", "1"), ("a.9.x", "2"), ("a.9-b", "3"), ("o", r#"{"p": {"q": 4}}"#), ("null", "null")]
    {
        attributes.insert(key, json(value));
    }
    attributes.insert(&"deep.".repeat(10_000), json("1"));
    assert_eq!(attributes.count(&["o.p.q"]), Some(4));
    assert_eq!(attributes.get("null"), None);
    assert_eq!(attributes.tree("o.p"), Some(json(r#"{"q": 4}"#)));
    assert_eq!(attributes.tree("a"), Some(json(r#"{"10": {"x": 1}, "9": {"x": 2}, "9-b": 3}"#)));
    assert_eq!(attributes.tree("deep"), None);
    let mut list = Attributes::default();
    for key in ["m.2.role", "m.1.role", "m.10.role"] {
        list.insert(key, Json::String(key.to_owned()));
    }
    assert_eq!(
        list.tree("m"),
        Some(json(r#"[{"role": "m.1.role"}, {"role": "m.2.role"}, {"role": "m.10.role"}]"#))
    );
}
