//! `m3 review`: access, several people with one file, tables, and the written references.

mod access;
mod checks;
mod edits;
mod judged;
mod modes;
mod page;
mod support;

use serde_json::{Value, json};
use support::{Review, lines, status, tools, write_references};

use crate::support::{
    Folder, failure, follow_kept_schema, follows_kept_schema, json_of, m3_bare, run, stdout, text,
};

#[test]
fn only_who_has_the_token_and_names_the_right_host_is_answered() {
    let folder = Folder::new();
    let references = write_references(&folder);
    let review = Review::start(&folder, &[references.to_str().unwrap()]);
    let (port, token) = (review.port(), review.token());
    let get = |path: &str, headers: &str| status(port, &format!("GET {path} HTTP/1.1\r\n{headers}\r\n"));
    let ours = format!("Host: 127.0.0.1:{port}\r\n");
    assert_eq!(get(&format!("/{token}/"), &ours), 200);
    assert_eq!(get(&format!("/{token}/api/list"), &format!("Host: localhost:{port}\r\n")), 200);
    for path in
        ["/", "/api/list", "/x/api/list", &format!("/{}/", "0".repeat(64)), &format!("/?token={token}")]
    {
        assert_eq!(get(path, &ours), 403, "{path}");
    }
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example"] {
        assert_eq!(get(&format!("/{token}/"), &format!("Host: {host}\r\n")), 403, "{host}");
    }
    let foreign = format!("{ours}Origin: http://evil.example\r\n");
    assert_eq!(get(&format!("/{token}/"), &foreign), 403);
    // A form on another page cannot send JSON.
    let body = "{}";
    let form = format!(
        "POST /{token}/api/decide HTTP/1.1\r\n{ours}Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(status(port, &form), 415);
    assert_eq!(get(&format!("/{token}/image/../../etc/passwd"), &ours), 404);
}

#[test]
fn answers_carry_headers_that_keep_them_in() {
    let folder = Folder::new();
    let references = write_references(&folder);
    std::fs::copy(crate::support::root().join("images/dice.png"), folder.path().join("dice.png")).unwrap();
    let review = Review::start(&folder, &[references.to_str().unwrap()]);
    for (path, kind) in [("", "text/html"), ("api/list", "application/json"), ("image/0", "image/")] {
        let response = review.get(path);
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(response.status(), 200, "{path}");
        assert!(header("content-type").starts_with(kind), "{path}");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("cache-control"), "no-store");
        assert!(header("content-security-policy").starts_with("default-src 'none'"));
    }
    // The second reference names a file outside of the folder, the third none.
    assert_eq!(review.get("image/1").status(), 404);
    assert_eq!(review.get("image/2").status(), 404);
    assert_eq!(review.get("image/99").status(), 404);
}

#[test]
fn two_processes_see_each_other_and_who_is_late_is_told() {
    let folder = Folder::new();
    let references = write_references(&folder);
    let references = references.to_str().unwrap();
    let (one, two) = (Review::start(&folder, &[references]), Review::start(&folder, &[references]));
    let accept = json!({"index": 0, "base": 0, "name": "Ada", "action": "accept", "note": ""});
    assert_eq!(one.post("api/decide", &accept).0, 200);
    let (_, changes) = two.json("api/changes?since=0");
    assert_eq!(changes["references"][0]["state"], "accepted");
    assert_eq!(changes["references"][0]["name"], "Ada");
    let reject = json!({"index": 0, "base": 0, "name": "Bob", "action": "reject", "note": "late"});
    let (status, refused) = two.post("api/decide", &reject);
    assert_eq!(status, 409);
    assert!(refused["error"].as_str().unwrap().starts_with("Ada has decided in the meantime (accepted"));
    assert_eq!(refused["reference"]["version"], 1);
    let kept = lines(&folder, "references.json.reviews.jsonl");
    assert_eq!(kept.len(), 2);
    assert_eq!((kept[1]["set_aside"].as_bool(), kept[1]["note"].as_str()), (Some(true), Some("late")));
    let (_, told) = one.json("api/reference?index=0");
    assert_eq!(told["state"], "accepted");
    assert_eq!(told["history"].as_array().unwrap().len(), 2);
}

#[test]
fn many_decisions_at_once_lose_none() {
    let folder = Folder::new();
    let references = write_references(&folder);
    let references = references.to_str().unwrap();
    let reviews = [Review::start(&folder, &[references]), Review::start(&folder, &[references])];
    let taken: usize = std::thread::scope(|scope| {
        let work: Vec<_> = (0..4)
            .map(|thread| {
                let review = &reviews[thread % 2];
                scope.spawn(move || {
                    let decide = |base: usize| {
                        let accept = json!({"index": 0, "base": base, "name": format!("P{thread}"), "action": "accept"});
                        review.post("api/decide", &accept).0
                    };
                    (0..10).filter(|base| decide(*base) == 200).count()
                })
            })
            .collect();
        work.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let kept = lines(&folder, "references.json.reviews.jsonl");
    let counting = kept.iter().filter(|line| line["set_aside"] != true).count();
    assert_eq!((kept.len(), counting), (40, taken));
    let bases: Vec<_> =
        kept.iter().filter(|line| line["set_aside"] != true).map(|line| &line["base"]).collect();
    let expected: Vec<Value> = (0..taken).map(|base| json!(base)).collect();
    assert_eq!(bases, expected.iter().collect::<Vec<_>>());
}

#[test]
fn a_table_goes_out_and_comes_back() {
    let folder = Folder::new();
    let references = write_references(&folder);
    let table = folder.path().join("review.csv");
    let review = || {
        let mut command = m3_bare(folder.path());
        command.arg("review").arg(&references);
        command
    };
    stdout(review().arg("--export").arg(&table));
    let written = std::fs::read_to_string(&table).unwrap();
    assert!(written.contains("'=WEBSERVICE(1)"), "{written}");
    let output = run(review().arg("--import").arg(&table).args(["--name", "Ada"]));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("0 references decided"), "{}", text(&output.stderr));

    let edited = written.replacen("item-77310", "item-99", 1).replacen(",open,,", ",rejected,,", 1);
    std::fs::write(&table, &edited).unwrap();
    let (code, message) = failure(review().arg("--import").arg(&table).arg("--tools").arg(tools(&folder)));
    assert_eq!(code, 2);
    assert!(
        message.contains("review.csv: line 2: the decision is") || message.contains("line 2: a rejection"),
        "{message}"
    );

    let accepted =
        written.replace(",open,", ",accepted,").replace("\"\"note\"\":\"\"x\"\"", "\"\"note\"\":3");
    std::fs::write(&table, &accepted).unwrap();
    let (_, message) = failure(review().arg("--import").arg(&table).arg("--tools").arg(tools(&folder)));
    assert!(message.contains("line 4: /note:"), "{message}");
    assert!(message.contains("nothing was decided"), "{message}");

    std::fs::write(&table, written.replace(",open,", ",accepted,")).unwrap();
    let output = run(review().arg("--import").arg(&table).args(["--name", "Ada"]));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = folder.path().join("reviewed.json");
    stdout(review().arg("--out").arg(&out));
    let made: Value = json_of(&out);
    let before: Value = json_of(&references);
    let made = made.as_array().unwrap();
    follow_kept_schema("reviewed", made);
    assert_eq!(lines(&folder, "references.json.reviews.jsonl").len(), made.len());
    assert_eq!(made.len(), before.as_array().unwrap().len());
    for (made, before) in made.iter().zip(before.as_array().unwrap()) {
        assert_eq!(made["steps"], before["steps"]);
        assert_eq!(made["review"]["state"], "accepted");
        assert_eq!(made["review"]["decisions"][0]["name"], "Ada");
    }
    // The output is a normal file of references.
    stdout(m3_bare(folder.path()).arg("validate").arg(&out));
}

#[test]
fn what_was_rejected_is_left_out_and_listed_and_what_is_open_too() {
    let folder = Folder::new();
    let references = write_references(&folder);
    let server = Review::start(&folder, &[references.to_str().unwrap()]);
    let decide = |index: usize, action: Value| {
        let mut sent = json!({"index": index, "base": 0, "name": "Ada"});
        sent.as_object_mut().unwrap().extend(action.as_object().unwrap().clone());
        server.post("api/decide", &sent)
    };
    assert_eq!(decide(0, json!({"action": "reject", "note": ""})).0, 422);
    assert_eq!(decide(0, json!({"action": "reject", "note": "wrong picture"})).0, 200);
    let steps =
        json!([[{"call": 0}], [{"call": 2, "arguments": "{\"id\": \"item-77310\", \"note\": \"y\"}"}]]);
    assert_eq!(decide(1, json!({"action": "edit", "steps": steps})).0, 200);
    let write = |more: &[&str]| {
        let out = folder.path().join("out.json");
        let mut command = m3_bare(folder.path());
        let output = run(command.arg("review").arg(&references).arg("--out").arg(&out).args(more));
        assert!(output.status.success(), "{}", text(&output.stderr));
        let made: Value = json_of(&out);
        (made, text(&output.stderr))
    };
    let (made, told) = write(&[]);
    assert_eq!(made.as_array().unwrap().len(), 1);
    follows_kept_schema("reviewed", &made[0]);
    lines(&folder, "references.json.reviews.jsonl");
    assert_eq!(made[0]["review"]["state"], "edited");
    assert_eq!(made[0]["steps"][1]["calls"][0]["arguments"], json!({"id": "item-77310", "note": "y"}));
    // The result belonged to the earlier arguments.
    assert_eq!(made[0]["steps"][1]["calls"][0].get("result"), None);
    assert!(
        told.contains("left out `r1`, rejected: wrong picture")
            && told.contains("left out `=WEBSERVICE(1)`, open"),
        "{told}"
    );
    assert_eq!(write(&["--with-undecided"]).0.as_array().unwrap().len(), 2);
}

#[test]
fn bad_usage_is_told() {
    let folder = Folder::new();
    let references = write_references(&folder);
    let fails = |arguments: &[&str]| {
        let (code, message) = failure(m3_bare(folder.path()).arg("review").args(arguments));
        assert_eq!(code, 2, "{message}");
        message
    };
    let file = references.to_str().unwrap();
    assert!(fails(&["-"]).contains("standard input"));
    assert!(fails(&[file, "--out", "x.json", "--export", "x.csv"]).contains("cannot be used with"));
    assert!(fails(&[file, "--summary"]).contains("--pairs"));
    assert!(fails(&[file, "--out", file]).contains("one of the files that are read"));
    let other = folder.json("other.json", &json!([{"id": "none", "steps": []}]));
    assert!(fails(&["--pairs", other.to_str().unwrap(), file]).contains("no task in common"));
    assert!(fails(&["--label", other.to_str().unwrap(), file]).contains("no call of the predictions"));
    folder.write("references.json.reviews.jsonl", "{}\n");
    assert!(fails(&[file]).contains("references.json.reviews.jsonl:1`"));
}
