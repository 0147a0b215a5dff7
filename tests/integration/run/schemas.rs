//! Tools whose input schemas take too long to be checked: the run goes on, with or without them.

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};
use serde_json::{Map, Value, json};

use super::output_of;
use super::unavailable::small_run;
use crate::support::{Folder, call, json_of, m3_bare, run, text, trajectory};

/// Forty definitions that refer to the next one twice each.
fn bomb(keyword: &str) -> Value {
    let definition = |at: usize| {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        (format!("d{at}"), json!({keyword: [next, next]}))
    };
    let mut definitions: Map<String, Value> = (0..40).map(definition).collect();
    definitions.insert("d40".to_owned(), json!({"type": "integer"}));
    json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
}

/// An expression with thousands of states that are all alive in a long text of digits.
fn exploding_pattern() -> Value {
    json!({"type": "object", "properties": {"x": {"pattern": "1[01]{3000}[\u{100}-\u{fff}]"}}})
}

/// A task and a server with a tool of this schema beside a plain one.
fn tasks(folder: &Folder, odd: Value) {
    let plain = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let tool = |name: &str, schema: Value| json!({"name": name, "description": "d", "inputSchema": schema});
    let tools = json!([tool("odd", odd), tool("plain", plain)]);
    let catalog = folder.json("catalog.json", &json!({"odd_server": {"tools": tools}}));
    let server = json!({"command": "m3", "args": ["serve", "simulated", "--catalog", catalog, "--server", "odd_server"]});
    folder.json("servers.json", &json!({"mcpServers": {"odd_server": server}}));
    folder.json("tasks.json", &json!([{"id": "a", "question": "What?"}]));
}

#[test]
fn a_schema_that_cannot_be_checked_stops_no_run() {
    let digits = "10".repeat(500_000);
    for (odd, x, reason, meaning) in [
        (bomb("anyOf"), "no", "it would take more", "its calls are not checked"),
        (bomb("allOf"), "no", "it would take more", "its calls are not checked"),
        (
            exploding_pattern(),
            digits.as_str(),
            "its regular expressions are too large",
            "some of its calls were not checked",
        ),
    ] {
        let folder = Folder::new();
        tasks(&folder, odd);
        let x = x.to_owned();
        let model = ScriptedModel::start(ScriptedWire::OpenAi, move |seen| match seen.turn {
            1 => ScriptedReply::Call(vec![
                ("odd_server__odd".to_owned(), json!({"x": x})),
                ("odd_server__plain".to_owned(), json!({"n": "no"})),
            ]),
            _ => ScriptedReply::Say("done".to_owned()),
        });
        let output = run(&mut small_run(&folder, &model));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(
            said.contains(&format!("`odd_server/odd`: this schema cannot be checked: {reason}")),
            "{said}"
        );
        assert!(said.contains(meaning), "{said}");
        let made = &json_of(output_of(&folder).join("predictions.json"))[0]["steps"][0]["calls"];
        assert_eq!([&made[0]["outcome"], &made[1]["outcome"]], ["success", "invalid_arguments"], "{made}");
    }
}

#[test]
fn such_tools_are_not_offered_where_that_is_asked_for() {
    let folder = Folder::new();
    tasks(&folder, bomb("anyOf"));
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("done".to_owned()));
    let output = run(small_run(&folder, &model).arg("--only-checkable-tools"));
    let said = text(&output.stderr);
    assert!(output.status.success() && said.contains("not offered"), "{said}");
    let request = model.requests()[0].to_string();
    assert!(request.contains("odd_server__plain") && !request.contains("odd_server__odd"), "{request}");
}

/// What is recorded in a file is classified in a short time, too.
#[test]
fn commands_with_a_catalog_say_which_schema_cannot_be_checked() {
    let folder = Folder::new();
    tasks(&folder, bomb("allOf"));
    let mut call = call("odd_server/odd", json!({"x": "no"}));
    call["result"] = json!("fine");
    folder.json("prediction.json", &json!([trajectory("a", &[&[call]])]));
    for (arguments, meaning) in [
        ("outcomes prediction.json --tools catalog.json", "it accepts everything"),
        (
            "judge prediction.json --tools catalog.json --rules-only -o references.json",
            "its calls are not checked",
        ),
    ] {
        let mut m3 = m3_bare(folder.path());
        let output = run(m3.current_dir(folder.path()).args(arguments.split(' ')));
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("this schema cannot be checked") && said.contains(meaning), "{said}");
    }
}
