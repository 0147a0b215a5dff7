//! Each rule on a small run made for it.

use serde_json::{Value, json};

use super::*;
use crate::{CallStatus, Chain, ChainCall};
use m3_flow::dependencies;

/// A run: each step with its calls as tool, arguments and result; a null result means a failure.
fn run(steps: Vec<Vec<(&str, Value, Value)>>) -> Chain {
    let mut calls = Vec::new();
    for (step, found) in steps.into_iter().enumerate() {
        for (call, (tool, arguments, result)) in found.into_iter().enumerate() {
            let is_failed = result.is_null();
            calls.push(ChainCall {
                place: CallPlace { step, call },
                tool: tool.to_owned(),
                arguments: Some(Json::from(&arguments)),
                standing: if is_failed {
                    CallStatus::Failed("tool_error".to_owned())
                } else {
                    CallStatus::Succeeded
                },
                result: Some(if is_failed {
                    Json::from(&json!("no such place"))
                } else {
                    Json::from(&result)
                }),
                read_only: None,
            });
        }
    }
    Chain { calls, given: vec!["What is this?".to_owned()] }
}

fn rules(chain: &Chain) -> Reconstruction {
    by_rules(chain, &dependencies(chain))
}

/// The steps as places, `0.1` for the second call of the first step.
fn shape(found: &Reconstruction) -> Vec<Vec<String>> {
    let name = |place: &CallPlace| format!("{}.{}", place.step, place.call);
    found.steps.iter().map(|step| step.iter().map(name).collect()).collect()
}

fn crop(output: &str) -> (&'static str, Value, Value) {
    ("image/crop", json!({"input_path": "a.png", "output_path": output}), json!({"result": [output]}))
}

#[test]
fn failed_calls_go_and_independent_ones_are_made_at_once() {
    let chain = run(vec![
        vec![("w/search", json!({"q": "fishing"}), json!({"hits": ["Barnegat Inlet"]}))],
        vec![
            ("w/geocode", json!({"address": "nowhere"}), Value::Null),
            ("w/list", json!({}), json!("empty")),
        ],
        vec![(
            "w/geocode",
            json!({"address": "Barnegat Inlet"}),
            json!({"lat": 39.766_017, "lng": -74.101_682}),
        )],
        vec![("w/air", json!({"lat": 39.766_017, "lng": -74.101_682}), json!("good"))],
        vec![("w/price", json!({"of": "bait"}), json!("cheap"))],
    ]);
    let found = rules(&chain);
    assert_eq!(shape(&found), [vec!["0.0", "1.1", "4.0"], vec!["2.0"], vec!["3.0"]]);
    assert_eq!(found.removed.len(), 1);
    assert_eq!(
        (found.removed[0].reason, found.removed[0].evidence.as_str()),
        (RemovalReason::Failed, "it failed: tool_error")
    );
    let merged: Vec<(usize, usize)> =
        found.merged.iter().map(|merged| (merged.place.step, merged.step)).collect();
    assert_eq!(merged, [(1, 0), (4, 0)]);
    assert_eq!(found.dependencies.len(), 2);
}

#[test]
fn repeats_go_but_for_those_that_say_something_new() {
    let read = |result: &str| ("f/text", json!({"path": "./a.txt"}), json!({"text": result}));
    let write = || ("f/copy", json!({"from": "b.txt", "output_path": "./a.txt"}), json!("ok"));
    let again = run(vec![vec![read("one")], vec![read("one")], vec![read("two")]]);
    let found = rules(&again);
    assert_eq!(shape(&found), [["0.0"]]);
    assert_eq!(found.removed[0].evidence, "the same call in step 1 gave the same");
    assert!(found.removed[1].evidence.contains("something else"), "{:?}", found.removed[1]);
    let changed = run(vec![vec![read("one")], vec![write()], vec![read("two")]]);
    assert_eq!(shape(&rules(&changed)), [["0.0"], ["1.0"], ["2.0"]]);
    let used = run(vec![
        vec![("m/pick", json!({}), json!("red fox"))],
        vec![("m/pick", json!({}), json!("grey wolf"))],
        vec![("w/summary", json!({"title": "grey wolf"}), json!("x"))],
    ]);
    assert_eq!(shape(&rules(&used)), [vec!["0.0", "1.0"], vec!["2.0"]]);
    let twice = ("m/multiply", json!({"a": 5, "b": 3.5}), json!("17.5"));
    let sum = ("m/sum", json!({"numbers": [17.5, 17.5]}), json!("35"));
    let counted = run(vec![
        vec![twice.clone()],
        vec![twice.clone()],
        vec![twice, ("m/x", json!({}), json!(0))],
        vec![sum],
    ]);
    assert_eq!(shape(&rules(&counted)), [vec!["0.0", "1.0", "2.1"], vec!["3.0"]]);
    let slide = || ("ppt/add_slide", json!({"title": "x"}), json!("ok"));
    assert_eq!(shape(&rules(&run(vec![vec![slide()], vec![slide()]]))), [["0.0"], ["1.0"]]);
}

#[test]
fn files_state_and_pictures_keep_calls_apart() {
    let scan = || ("code/scan", json!({"path": "b.png"}), json!("nothing"));
    let apart = |chain: Chain| assert_eq!(shape(&rules(&chain)), [["0.0"], ["1.0"]]);
    apart(run(vec![vec![crop("b.png")], vec![scan()]]));
    apart(run(vec![
        vec![crop("b.png")],
        vec![("image/blur", json!({"input_path": "c.png", "output_path": "b.png"}), json!(1))],
    ]));
    apart(run(vec![vec![scan()], vec![crop("b.png")]]));
    apart(run(vec![
        vec![("ppt/create_deck", json!({"id": "d"}), json!("ok"))],
        vec![("ppt/save_deck", json!({}), json!("ok"))],
    ]));
    let picture = json!({"content": [{"type": "image", "mimeType": "image/png", "file": "r.png"}]});
    apart(run(vec![vec![("i/show", json!({}), picture)], vec![("i/write", json!({"text": "7"}), json!(1))]]));
    let look = || ("image/get_metainfo", json!({"input_path": "a.png"}), json!({"width": 960}));
    apart(run(vec![vec![look()], vec![crop("b.png")]]));
    let together = |chain: Chain| assert_eq!(shape(&rules(&chain)), [["0.0", "1.0"]]);
    together(run(vec![vec![crop("b.png")], vec![look()]]));
    together(run(vec![vec![look()], vec![("code/scan", json!({"path": "a.png"}), json!("nothing"))]]));
    together(run(vec![vec![crop("b.png")], vec![crop("c.png")]]));
}

#[test]
fn a_chain_of_which_nothing_is_recorded_stays_as_it_is() {
    let mut chain = run(vec![vec![crop("b.png")], vec![crop("b.png")]]);
    for call in &mut chain.calls {
        (call.result, call.standing) = (None, CallStatus::NotRecorded);
    }
    let found = rules(&chain);
    assert_eq!(
        (shape(&found), found.removed.len()),
        (vec![vec!["0.0".to_owned()], vec!["1.0".to_owned()]], 0)
    );
    // If one call is recorded, the others count as not executed.
    chain.calls[0].result = Some(Json::Null);
    chain.calls[0].standing = CallStatus::Succeeded;
    let found = rules(&chain);
    assert_eq!(
        (shape(&found), found.removed[0].reason),
        (vec![vec!["0.0".to_owned()]], RemovalReason::NotRecorded)
    );
}

#[test]
fn what_only_a_failure_said_is_named() {
    let mut chain = run(vec![
        vec![("g/geocode", json!({"address": "Porto"}), Value::Null)],
        vec![("g/geocode", json!({"address": "Ribeira Square"}), json!("x"))],
    ]);
    chain.calls[0].result = Some(Json::from(&json!("not found; did you mean Ribeira Square?")));
    let found = rules(&chain);
    assert_eq!(shape(&found), [["1.0"]]);
    assert_eq!(
        found.removed[0].evidence,
        "it failed: tool_error; `g/geocode` in step 2 uses `Ribeira Square`, which only the answer to a failed call has"
    );
}

fn proposal(steps: Vec<Vec<(&str, Value)>>) -> Proposal {
    let call = |(name, arguments): (&str, Value)| ProposedCall {
        name: name.to_owned(),
        arguments: Some(Json::from(&arguments)),
    };
    Proposal { steps: steps.into_iter().map(|step| step.into_iter().map(call).collect()).collect() }
}

/// A search, then two calls that use its result, a failed call, and a repeat.
fn looked_up() -> Chain {
    run(vec![
        vec![("w/search", json!({"q": "fish", "n": 5}), json!(["Striped bass", "Tautog onitis"]))],
        vec![("w/summary", json!({"title": "Striped bass"}), json!("x"))],
        vec![("w/summary", json!({"title": "Tautog onitis"}), json!("y")), ("w/air", json!({}), Value::Null)],
        vec![("w/search", json!({"q": "fish", "n": 5}), json!(["Striped bass", "Tautog onitis"]))],
    ])
}

fn problems(chain: &Chain, proposed: Vec<Vec<(&str, Value)>>) -> Vec<String> {
    let found = check(chain, &dependencies(chain), &proposal(proposed));
    found.unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn a_proposal_that_keeps_the_rules_is_accepted() {
    let chain = looked_up();
    let proposed = proposal(vec![
        vec![("w/search", json!({"n": 5.0, "q": "fish"}))],
        vec![],
        vec![
            ("w/summary", json!({"title": "Tautog onitis"})),
            ("w/summary", json!({"title": "Striped bass"})),
        ],
    ]);
    let found = check(&chain, &dependencies(&chain), &proposed).unwrap();
    assert_eq!(shape(&found), [vec!["0.0"], vec!["1.0", "2.0"]]);
    let removed: Vec<RemovalReason> = found.removed.iter().map(|removed| removed.reason).collect();
    assert_eq!(removed, [RemovalReason::Failed, RemovalReason::Repeated]);
    assert_eq!(found.merged.len(), 1);
    assert_eq!(found.dependencies.len(), 2);
    let fewer = proposal(vec![vec![("w/search", json!({"q": "fish", "n": 5}))]]);
    let found = check(&chain, &dependencies(&chain), &fewer).unwrap();
    assert_eq!(found.removed[0].reason, RemovalReason::Proposed);
}

#[test]
fn everything_that_a_proposal_breaks_is_said() {
    let chain = looked_up();
    let search = || ("w/search", json!({"q": "fish", "n": 5}));
    let bass = || ("w/summary", json!({"title": "Striped bass"}));
    assert_eq!(problems(&chain, vec![vec![], vec![]]), ["it has no calls"]);
    assert_eq!(
        problems(
            &chain,
            vec![
                vec![bass(), search()],
                vec![("w/summary", json!({"title": "Bass"})), ("w/air", json!({})), ("x/y", json!({}))]
            ]
        ),
        [
            "step 2 calls `w/summary` with arguments that no successful call of the run had (copy the arguments exactly; \
             the run called it with `{\"title\":\"Striped bass\"}`, `{\"title\":\"Tautog onitis\"}`)",
            "step 2 calls `w/air` with arguments that no successful call of the run had (the run made this call and it \
             failed: tool_error; leave it out)",
            "step 2 calls `x/y` with arguments that no successful call of the run had (the run has no successful call of \
             this tool; leave it out)",
            "`w/summary` in step 1 uses `Striped bass`, which `w/search` in step 1 returns; it has to come later",
        ]
    );
    assert_eq!(
        problems(&chain, vec![vec![bass(), bass()]]),
        [
            "step 1 calls `w/summary` with arguments that no successful call of the run had (the run made this call 1 \
             time, and the proposal has it more often; leave out the rest)",
            "`w/summary` in step 1 uses `Striped bass`, which only `w/search` returned, and that call is left out",
        ]
    );
    let longer = problems(
        &chain,
        vec![vec![search(); 3], vec![search()], vec![bass()], vec![search()], vec![search()]],
    );
    assert_eq!(
        longer[longer.len() - 2..],
        [
            "it is longer than the run: it has 7 calls, the run 5 calls",
            "it is longer than the run: it has 5 steps, the run 4 steps"
        ]
    );
}

#[test]
fn a_value_that_another_call_returned_too_is_no_loss() {
    let chain = run(vec![
        vec![("w/a", json!({}), json!(["Striped bass"]))],
        vec![("w/b", json!({}), json!(["Striped bass"]))],
        vec![("w/summary", json!({"title": "Striped bass"}), json!("x"))],
    ]);
    let summary = || vec![("w/summary", json!({"title": "Striped bass"}))];
    let proposed = proposal(vec![vec![("w/b", json!({}))], summary()]);
    let found = check(&chain, &dependencies(&chain), &proposed).unwrap();
    assert_eq!(found.dependencies[0].from, CallPlace { step: 1, call: 0 });
    let late = problems(&chain, vec![summary(), vec![("w/b", json!({}))]]);
    assert_eq!(
        late,
        ["`w/summary` in step 1 uses `Striped bass`, which `w/b` in step 2 returns; it has to come later"]
    );
}

#[test]
fn files_keep_their_order_and_state_may_share_a_step() {
    let files = run(vec![
        vec![crop("b.png")],
        vec![("i/blur", json!({"input_path": "c.png", "output_path": "b.png"}), json!(1))],
    ]);
    let (crop, blur) = (
        json!({"input_path": "a.png", "output_path": "b.png"}),
        json!({"input_path": "c.png", "output_path": "b.png"}),
    );
    assert_eq!(
        problems(&files, vec![vec![("image/crop", crop), ("i/blur", blur)]]),
        [
            "`image/crop` in step 1 and `i/blur` in step 1: both write `b.png`; `i/blur` has to come in a later step"
        ]
    );
    let (first, second) =
        (|| ("ppt/add_slide", json!({"title": "a"})), || ("ppt/add_slide", json!({"title": "b"})));
    let done = |(tool, arguments): (&'static str, Value)| (tool, arguments, json!("ok"));
    let slides = run(vec![vec![done(first())], vec![done(second())]]);
    let proposed = proposal(vec![vec![second(), first()]]);
    assert_eq!(shape(&check(&slides, &[], &proposed).unwrap()), [["0.0", "1.0"]]);
    assert_eq!(
        problems(&slides, vec![vec![second()], vec![first()]]),
        [
            "`ppt/add_slide` in step 2 and `ppt/add_slide` in step 1: the first changes what `ppt` holds; `ppt/add_slide` has to come no earlier"
        ]
    );
}

#[test]
fn arguments_that_standard_json_cannot_express_are_kept_as_text() {
    let mut chain = run(vec![vec![("a/b", json!({}), Value::Null)]]);
    chain.calls[0].arguments = Some(m3_trajectory::json::parse(br#"{"x": 1e400}"#).unwrap().0);
    let removed = &rules(&chain).removed[0];
    assert_eq!((removed.tool.as_str(), &removed.arguments), ("a/b", &json!("{\"x\":Infinity}")));
}
