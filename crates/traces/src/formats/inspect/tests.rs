use std::io::Write as _;

use m3_trajectory::json::Json;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use crate::content::string;
use crate::testing::{CollectingSink, read_file, read_text, shown};
use crate::trace::Trace;

/// A log of samples.
fn log(samples: &[&str]) -> CollectingSink {
    let samples = samples.join(",");
    let text = format!(
        r#"{{"version": 2, "status": "success", "eval": {{"task": "t", "model": "m"}}, "samples": [{samples}]}}"#
    );
    let (format, kept) = read_text("log.json", &text).unwrap();
    assert_eq!(format, "inspect-json");
    kept
}

/// A sample of these messages and events.
fn sample(messages: &str, events: &str) -> Trace {
    let text = format!(
        r#"{{"id": "s", "epoch": 1, "input": "Q?", "messages": [{messages}], "events": [{events}]}}"#
    );
    log(&[&text]).traces.remove(0)
}

fn notes(trace: &Trace) -> Vec<&str> {
    trace.notes.iter().map(|(note, _)| note).collect()
}

/// An event of a model with a call of this tool.
fn reply(span: &str, message: &str, tool: &str) -> String {
    format!(
        r#"{{"event": "model", "span_id": "{span}", "output": {{"model": "m", "usage": {{"input_tokens": 1}}, "choices":
            [{{"message": {{"id": "{message}", "role": "assistant", "content": "", "tool_calls":
            [{{"id": "c-{message}", "function": "{tool}", "arguments": {{}}}}]}}}}]}}}}"#
    )
}

fn ran(span: &str, message: &str, tool: &str, result: &str) -> String {
    format!(
        r#"{{"event": "tool", "span_id": "{span}", "id": "c-{message}", "function": "{tool}", "arguments": {{}}, "result": {result},
            "message_id": "r-{message}", "timestamp": "2026-01-01T00:00:00+00:00", "completed": "2026-01-01T00:00:02+00:00"}}"#
    )
}

fn span(id: &str, parent: &str, kind: &str, name: &str) -> String {
    format!(
        r#"{{"event": "span_begin", "id": "{id}", "parent_id": "{parent}", "type": "{kind}", "name": "{name}"}}"#
    )
}

fn assistant(id: &str, tool: &str) -> String {
    format!(
        r#"{{"id": "{id}", "role": "assistant", "content": "", "tool_calls": [{{"id": "c-{id}", "function": "{tool}", "arguments": {{}}}}]}}"#
    )
}

fn result(id: &str, text: &str) -> String {
    format!(r#"{{"id": "r-{id}", "role": "tool", "tool_call_id": "c-{id}", "content": "{text}"}}"#)
}

#[test]
fn arguments_that_could_not_be_read_are_taken_from_the_error() {
    let call = |extra: &str| {
        let message = format!(
            r#"{{"role": "assistant", "content": "", "tool_calls": [{{"id": "1", "function": "f", {extra}}}]}}"#
        );
        sample(&message, "").steps[0][0].arguments.clone()
    };
    let error = |text: &str| format!(r#""arguments": {{}}, "parse_error": "{text}""#);
    assert_eq!(call(&error("Error:\\n\\n{a\\n\\nb\\n\\nError details: x\\n\\ny")), Some(string("{a\n\nb")));
    assert_eq!(call(&error("Error:\\n\\n{a\\n\\nx")), Some(string("{a")));
    assert_eq!(call(&error("no paragraphs")), None);
    assert_eq!(call(&error("one\\n\\nparagraph")), None);
    assert_eq!(call(r#""arguments": {"a": 1}, "parse_error": "x""#).unwrap().to_plain_text(), r#"{"a":1}"#);
    assert_eq!(call(r#""arguments": {}"#), Some(Json::Object(Vec::new())));
}

#[test]
fn the_message_of_an_error_is_the_result_if_there_is_no_other() {
    let failed = |content: &str| {
        let result = format!(
            r#"{{"role": "tool", "tool_call_id": "c-a", "content": "{content}", "error": {{"type": "timeout", "message": "too long"}}}}"#
        );
        sample(&format!("{}, {result}", assistant("a", "f")), "")
    };
    assert_eq!(shown(&failed("")), ["f({})=too long!"]);
    assert_eq!(shown(&failed("half")), ["f({})=half!"]);
    assert_eq!(failed("").steps[0][0].error_type.as_deref(), Some("timeout"));
    assert_eq!(failed("").final_reply, None);
}

#[test]
fn ids_have_epochs_if_there_are_several() {
    let ids = |samples: &[&str]| -> Vec<String> {
        log(samples).traces.into_iter().map(|it| it.id.unwrap()).collect()
    };
    let (one, two, other) =
        (r#"{"id": 7, "epoch": 1}"#, r#"{"id": 7, "epoch": 2}"#, r#"{"id": "a/b", "epoch": 1}"#);
    assert_eq!(ids(&[one, other]), ["7", "a/b"]);
    assert_eq!(ids(&[one, two, other]), ["7~1", "7~2", "a/b~1"]);
}

#[test]
fn usage_includes_the_cache_and_the_answer_is_the_output() {
    let text = r#"{"id": "s", "input": [{"role": "system", "content": "x"}, {"role": "user", "content": "Q?"}],
        "output": {"completion": "attachment://h"}, "attachments": {"h": "A."}, "started_at": "2026-01-01T00:00:00Z", "total_time": 3.5,
        "model_usage": {"a": {"input_tokens": 1, "input_tokens_cache_read": 10, "input_tokens_cache_write": 100, "output_tokens": 2},
        "b": {"input_tokens": 1000, "output_tokens": 3, "reasoning_tokens": 1}}, "limit": {"type": "token"}, "error": {"message": "x"}}"#;
    let trace = log(&[text]).traces.remove(0);
    assert_eq!((trace.usage.input, trace.usage.cached, trace.usage.output), (Some(1111), Some(10), Some(5)));
    assert_eq!(trace.question.as_ref().unwrap().text(), "Q?");
    assert_eq!((trace.final_reply.as_deref(), trace.seconds), (Some("A."), Some(3.5)));
    assert!(trace.origin.contains(&("limit", "token".to_owned())));
    assert_eq!(notes(&trace), ["the sample ended with an error"]);
}

#[test]
fn pictures_are_looked_up_and_those_after_results_belong_to_their_calls() {
    let image = |data: &str| format!(r#"{{"type": "image", "image": "{data}"}}"#);
    let messages = format!(
        r#"{}, {}, {{"role": "user", "tool_call_id": ["c-a"], "content": [{}]}}"#,
        assistant("a", "f"),
        result("a", "seen"),
        image("data:image/png;base64,AAAA")
    );
    let trace = sample(&messages, "");
    let parts = r#"[{"type":"text","text":"seen"},{"type":"image","data":"AAAA","mimeType":"image/png"}]"#;
    assert_eq!(shown(&trace), [format!("f({{}})={parts}")]);
    assert_eq!(trace.question.unwrap().text(), "Q?");
    let lost = sample(&format!(r#"{{"role": "user", "content": [{}]}}"#, image("attachment://x")), "");
    assert_eq!(notes(&lost), ["an attachment is missing"]);
}

#[test]
fn hosted_tools_are_calls_with_their_results() {
    let message = r#"{"role": "assistant", "content": [{"type": "tool_use", "tool_type": "mcp_call", "id": "1", "name": "look",
        "context": "shop", "arguments": "{\"a\": 1}", "result": "r"}, {"type": "tool_use", "tool_type": "web_search", "name": "web_search",
        "arguments": "{}", "result": "", "error": "down"}, {"type": "text", "text": "Done."}]}"#;
    let trace = sample(message, "");
    assert_eq!(shown(&trace), [r#"shop/look({"a":1})=r"#, "web_search({})=down!"]);
    assert_eq!(trace.final_reply.as_deref(), Some("Done."));
}

#[test]
fn calls_that_were_cut_from_the_messages_are_taken_from_events() {
    let events = [
        span("s", "", "agent", "boss"),
        reply("s", "1", "first"),
        ran("s", "1", "first", "1.5"),
        r#"{"event": "compaction", "span_id": "s"}"#.to_owned(),
        reply("s", "2", "second"),
        ran("s", "2", "second", "\"two\""),
        reply("s", "3", "submit"),
        ran("s", "3", "submit", "\"end\""),
    ];
    let messages = format!("{}, {}", assistant("2", "second"), result("2", "two"));
    let trace = sample(&messages, &events.join(","));
    assert_eq!(shown(&trace), ["first({})=1.5", "second({})=two"]);
    assert_eq!(notes(&trace), ["messages are not whole; calls are taken from events"]);
    // What messages have is not taken twice, and the events tell how long it took.
    let whole = sample(&messages, &events[4..].join(","));
    assert_eq!((shown(&whole), whole.steps[0][0].seconds), (vec!["second({})=two".to_owned()], Some(2.0)));
    assert!(notes(&whole).is_empty());
}

#[test]
fn a_hand_over_is_nested_if_control_comes_back_and_goes_on_otherwise() {
    let handed = [
        span("s", "", "agent", "boss"),
        reply("s", "1", "transfer_to_x"),
        span("h", "s", "handoff", "x"),
        span("t", "h", "tool", "transfer_to_x"),
        ran("h", "1", "transfer_to_x", "\"ok\""),
        span("x", "t", "agent", "x"),
        reply("x", "2", "inner"),
        ran("x", "2", "inner", "\"i\""),
    ]
    .join(",");
    let messages = format!("{}, {}", assistant("1", "transfer_to_x"), result("1", "ok"));
    let gone = sample(&messages, &handed);
    assert_eq!(
        (shown(&gone), gone.nested.len()),
        (vec!["transfer_to_x({})=ok".to_owned(), "inner({})=i".to_owned()], 0)
    );
    let back = sample(
        &format!("{messages}, {}", assistant("3", "last")),
        &format!("{handed}, {}", reply("s", "3", "last")),
    );
    assert_eq!(shown(&back), ["transfer_to_x({})=ok", "last({})=-"]);
    assert_eq!((back.nested[0].0.as_str(), shown(&back.nested[0].1)), ("x", vec!["inner({})=i".to_owned()]));
    assert!(notes(&back).is_empty(), "{:?}", notes(&back));
}

#[test]
fn replies_that_nothing_continues_and_scorers_are_left_out() {
    let events = [
        span("s", "", "tool", "ask"),
        reply("s", "1", "dropped")
            .replace("\"event\"", "\"input_refs\": [[2, 1], [9, 99], [0, 1], [2, 3]], \"event\""),
        reply("s", "2", "kept"),
        ran("s", "2", "kept", "true"),
        span("v", "", "scorers", "scorers"),
        reply("v", "3", "judge"),
        ran("v", "3", "judge", "\"x\""),
    ];
    let text = format!(
        r#"{{"id": "s", "messages": [{{"role": "user", "content": "Q?"}}], "events": [{}], "events_data": {{"messages": [
            {{"id": "2", "role": "assistant", "content": ""}}, {{"id": "r-2", "role": "tool", "content": "True"}}, {{"role": "user", "content": "Inner?"}}]}}}}"#,
        events.join(",")
    );
    let trace = log(&[&text]).traces.remove(0);
    assert!(trace.steps.is_empty());
    assert_eq!((trace.nested.len(), shown(&trace.nested[0].1)), (1, vec!["kept({})=True".to_owned()]));
    assert_eq!(trace.nested[0].1.question.as_ref().unwrap().text(), "Inner?");
}

#[test]
fn spans_in_circles_and_agents_of_agents_do_no_harm() {
    let circle = [span("a", "b", "tool", "x"), span("b", "a", "tool", "y"), span("c", "c", "agent", "z")];
    let events =
        [circle.join(","), reply("a", "1", "f"), reply("b", "2", "f"), reply("c", "3", "f")].join(",");
    assert!(sample("", &events).call_count() <= 3);
    let deep = (0..5000).map(|depth| {
        let (here, above) = (format!("s{depth}"), format!("s{}", depth - 1));
        format!("{}, {}", span(&here, &above, "tool", "ask"), reply(&here, &format!("m{depth}"), "f"))
    });
    let trace = sample(r#"{"role": "user", "content": "Q?"}"#, &deep.collect::<Vec<_>>().join(","));
    assert_eq!(trace.nested.len(), 1);
    let wrong = r#"{"id": {}, "epoch": "x", "messages": [1, "x", {"role": 3}, {"role": "tool", "tool_call_id": []}, {"role": "assistant",
        "tool_calls": [1, {"function": {}, "arguments": []}], "content": 4}], "events": [3, {"event": "model", "output": []}, {"event": "tool"}],
        "attachments": [], "scores": [], "model_usage": 3, "output": {"choices": {}}, "error": 1, "events_data": []}"#;
    assert_eq!(log(&[wrong, "4", "[]"]).traces.len(), 3);
}

#[test]
fn logs_without_samples_are_refused() {
    let error =
        read_text("a.json", r#"{"version": 2, "status": "started", "eval": {"task": "t"}}"#).unwrap_err();
    assert!(error.contains("without samples"), "{error}");
}

/// An archive of these entries.
fn archive(entries: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn read_bytes(bytes: &[u8]) -> Result<(&'static str, CollectingSink), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    std::fs::write(&path, bytes).unwrap();
    read_file(&path)
}

const HEADER: (&str, &[u8]) = ("header.json", br#"{"eval": {"task": "t", "model": "m"}}"#);

#[test]
fn archives_of_both_methods_are_read_by_the_ids_in_their_samples() {
    let samples: [(&str, &[u8]); 3] = [
        HEADER,
        ("samples/a/b_epoch_1.json", br#"{"id": "a/b", "epoch": 1}"#),
        ("samples/x_epoch_2.json", br#"{"id": "x", "epoch": 2}"#),
    ];
    for method in [CompressionMethod::Zstd, CompressionMethod::Deflated, CompressionMethod::Stored] {
        let (format, kept) = read_bytes(&archive(&samples, method)).unwrap();
        let ids: Vec<_> = kept.traces.iter().map(|trace| trace.id.as_deref().unwrap()).collect();
        assert_eq!((format, ids), ("inspect-eval", vec!["a/b~1", "x~2"]));
        assert_eq!(kept.traces[0].model.as_deref(), Some("m"));
        assert!(kept.warnings.is_empty());
    }
}

#[test]
fn a_log_of_a_run_that_broke_off_has_its_beginning() {
    let entries: [(&str, &[u8]); 2] =
        [("_journal/start.json", HEADER.1), ("samples/x_epoch_1.json", br#"{"id": "x", "epoch": 1}"#)];
    let (_, kept) = read_bytes(&archive(&entries, CompressionMethod::Zstd)).unwrap();
    assert_eq!((kept.traces[0].id.as_deref(), kept.traces[0].model.as_deref()), (Some("x"), Some("m")));
    assert!(kept.warnings[0].contains("no `header.json`"), "{:?}", kept.warnings);
    // An archive that is cut has no list of entries.
    let whole = archive(&entries, CompressionMethod::Stored);
    let error = read_bytes(&whole[..whole.len() - 30]).unwrap_err();
    assert!(error.contains("not a whole zip archive"), "{error}");
}

#[test]
fn damaged_entries_are_reported_with_their_places_and_the_others_read() {
    let long = format!(r#"{{"id": "x", "epoch": 1, "input": "{}"}}"#, "abc".repeat(100));
    let entries: [(&str, &[u8]); 6] = [
        HEADER,
        ("samples/good_epoch_1.json", br#"{"id": "good", "epoch": 1}"#),
        ("samples/../../out_epoch_1.json", br#"{"id": "out", "epoch": 1}"#),
        ("samples/no_epoch_1.json", b"not json"),
        ("samples/deep_epoch_1.json", &[b'['; 5000]),
        ("samples/x_epoch_1.json", long.as_bytes()),
    ];
    let good = archive(&entries, CompressionMethod::Zstd);
    let (_, kept) = read_bytes(&good).unwrap();
    assert_eq!(kept.traces.len(), 2);
    assert!(
        kept.warnings[0].starts_with("entry 3 `samples/../../out_epoch_1.json`: its name leads out"),
        "{:?}",
        kept.warnings
    );
    assert!(
        kept.warnings[1].starts_with("entry 4 `samples/no_epoch_1.json`: not JSON at byte 1"),
        "{:?}",
        kept.warnings
    );
    // Any byte may be broken: what can be read is read, and nothing panics.
    for place in (0..good.len()).step_by(3) {
        let mut bad = good.clone();
        bad[place] ^= 0x55;
        let _ = read_bytes_if_known(&bad);
    }
    let frame = good.windows(4).rposition(|bytes| bytes == [0x28, 0xb5, 0x2f, 0xfd]).unwrap();
    let mut broken = good.clone();
    broken[frame + 20] ^= 0xff;
    let (_, kept) = read_bytes(&broken).unwrap();
    assert!(
        kept.warnings.last().unwrap().starts_with("entry 6 `samples/x_epoch_1.json`: damaged"),
        "{:?}",
        kept.warnings
    );
    // The length in the list of entries is 24 bytes behind its signature.
    for told in [1, u32::MAX - 1] {
        let mut lying = good.clone();
        let listed = lying.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
        lying[listed + 24..listed + 28].copy_from_slice(&told.to_le_bytes());
        let (_, kept) = read_bytes(&lying).unwrap();
        assert!(kept.warnings.last().unwrap().starts_with("entry 6"), "{:?}", kept.warnings);
        assert_eq!(kept.traces.len(), 1);
    }
}

fn read_bytes_if_known(bytes: &[u8]) -> Option<CollectingSink> {
    read_bytes(bytes).ok().map(|(_, kept)| kept)
}
