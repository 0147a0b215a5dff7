//! Resources that results link to, read with the host's own tool.

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest};
use serde_json::{Value, json};

use super::{output_of, predictions, questions};
use crate::host::support::{marker, stub, wait_until_gone};
use crate::support::{Folder, json_of, m3_bare, report, stdout};

const READ: &str = "stub__read_resource";

/// Gets a link, reads it and something that was not linked to, and replies with both results.
fn reads(seen: &SeenRequest) -> ScriptedReply {
    let can_read = seen.tools.iter().any(|tool| tool == READ);
    let read = |uri: &str| (READ.to_owned(), json!({ "uri": uri }));
    match seen.turn {
        1 if can_read => ScriptedReply::Say("offered before there was a link".to_owned()),
        1 => ScriptedReply::Call(vec![("stub__all_contents".to_owned(), json!({}))]),
        2 if can_read => ScriptedReply::Call(vec![read("file:///a.txt"), read("file:///etc/passwd")]),
        2 => ScriptedReply::Say("not offered".to_owned()),
        _ => ScriptedReply::Say("read".to_owned()),
    }
}

fn run(folder: &Folder, scenario: &str, llm: &str, name: &str, further: &[&str]) -> Value {
    let marker = marker();
    let mut server = json!({"command": stub(), "args": [scenario, "--marker", marker]});
    if name == "denied" {
        server["deny"] = json!(["read_*"]);
    }
    let servers = folder.json("servers.json", &json!({"mcpServers": {"stub": server}}));
    let output = output_of(folder).join(name);
    let mut command = m3_bare(folder.path());
    command.arg("run").arg(questions(folder, 1)).args(["--llm", llm, "--mode", "native", "-o"]).arg(&output);
    if !llm.starts_with("replay:") {
        command.arg("--servers").arg(servers);
    }
    stdout(command.args(further));
    wait_until_gone(&marker);
    predictions(&output).remove(0)
}

#[test]
fn a_resource_that_a_result_links_to_can_be_read_and_no_other() {
    let folder = Folder::new();
    std::fs::create_dir(output_of(&folder)).unwrap();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, reads);
    let llm = format!("openai@{}:scripted", model.base_url());
    let cassette = folder.path().join("links.cassette");
    let found = run(&folder, "resources", &llm, "live", &["--record", cassette.to_str().unwrap()]);
    assert_eq!(found["final_reply"], "read", "{found}");
    let [good, bad] = [0, 1].map(|call| found["steps"][1]["calls"][call].clone());
    assert_eq!(
        (&good["name"], &good["arguments"]),
        (&json!("stub/read_resource"), &json!({"uri": "file:///a.txt"}))
    );
    assert_eq!((&good["outcome"], &good["is_error"]), (&json!("success"), &json!(false)));
    assert!(good["result"].to_string().contains("the whole of a"), "{good}");
    assert_eq!(bad["is_error"], true);
    assert!(bad["result"].to_string().contains("no result of this server has linked to it"), "{bad}");
    // A cassette records the answers, and that a resource could be read.
    let played = run(&folder, "resources", &format!("replay:{}", cassette.display()), "played", &[]);
    assert_eq!(played["steps"][1]["calls"][0]["result"], good["result"]);
    assert_eq!(played["steps"][1]["calls"][1]["result"], bad["result"]);
    // The tool is in no list, but its calls are judged by their answers, also in a replay.
    let predictions = output_of(&folder).join("live/predictions.json");
    let servers = folder.path().join("servers.json");
    let catalog = folder.path().join("tools.json");
    stdout(m3_bare(folder.path()).arg("tools").arg(&servers).arg("--out").arg(&catalog));
    for tools in [["--tools", catalog.to_str().unwrap()], ["--servers", servers.to_str().unwrap()]] {
        let judged = report(m3_bare(folder.path()).arg("outcomes").arg(&predictions).args(tools));
        let details = judged["trajectories"][0]["details"].as_array().unwrap();
        let outcomes: Vec<_> = details.iter().map(|call| &call["outcome"]).collect();
        assert_eq!(outcomes[..2], [&json!("success"); 2], "{tools:?} {details:?}");
        assert_ne!(outcomes[2], &json!("unknown_tool"), "{tools:?} {details:?}");
    }
    // A server may give links without declaring resources; these cannot be read.
    let found = run(&folder, "plain", &llm, "without", &[]);
    assert_eq!(found["final_reply"], "not offered");
    assert_eq!(json_of(output_of(&folder).join("without/predictions.json"))[0]["finish"], "answered");
    // The user's filter applies to this tool too.
    let found = run(&folder, "resources", &llm, "denied", &[]);
    assert_eq!(found["final_reply"], "not offered");
}
