//! Properties of the reconstruction of any run.

use m3_flow::{CallStatus, Chain, ChainCall};
use m3_flow::{Dependency, dependencies};
use m3_judge::reconstruct::{Reconstruction, by_rules, check};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{chain, made, proposed, rebuilt, step_of};

/// Values of all kinds, so few that calls often share them.
fn any_value() -> impl Strategy<Value = Value> {
    let values = [
        json!("Barnegat Inlet"),
        json!("fishing at Barnegat Inlet"),
        json!("ChIJ-77x"),
        json!("a.png"),
        json!("./out/b.png"),
        json!("zsh"),
        json!("us"),
        json!(5),
        json!(19),
        json!(184.25),
        json!(40.433_349_6),
        json!([5, 19, 7]),
        json!(["ChIJ-77x", "a.png"]),
        json!({"id": 5, "place": "Barnegat Inlet"}),
        json!("{\"id\": \"ChIJ-77x\", \"lat\": 40.4333496}"),
        json!("1. zsh\n2. Barnegat Inlet, 19 m\n3. ChIJ-77x"),
        Value::Null,
    ];
    (0..values.len()).prop_map(move |index| values[index].clone())
}

fn any_call() -> impl Strategy<Value = ChainCall> {
    let tools =
        ["w/search", "w/get", "ppt/add_slide", "ppt/save_deck", "image/crop", "image/blur", "m/sum", "x/y"];
    let names = ["query", "place_id", "input_path", "output_path", "id", "n", "type", "index"];
    let argument =
        (0..names.len(), any_value()).prop_map(move |(name, value)| (names[name].to_owned(), value));
    let arguments = prop::collection::vec(argument, 0..3)
        .prop_map(|members| Value::Object(members.into_iter().collect()));
    let arguments = prop_oneof![9 => arguments, 1 => Just(Value::Null)];
    let result = prop_oneof![
        4 => any_value().prop_map(Some),
        2 => (any_value(), any_value()).prop_map(|(a, b)| Some(json!({"id": a, "results": [b]}))),
        1 => Just(Some(json!({"content": [{"type": "image", "mimeType": "image/png", "file": "x.png"}]}))),
        1 => Just(None),
    ];
    (0..tools.len(), arguments, result, 0..20_u8).prop_map(move |(tool, arguments, result, kind)| {
        let mut call = made(tools[tool], &arguments, result.as_ref().ok_or("no Barnegat Inlet here"));
        call.read_only = match tools[tool] {
            "m/sum" => Some(true),
            "x/y" => Some(false),
            _ => None,
        };
        if kind == 0 {
            (call.result, call.standing) = (None, CallStatus::NotRecorded);
        }
        call
    })
}

fn any_chain() -> impl Strategy<Value = Chain> {
    let steps = prop::collection::vec(prop::collection::vec(any_call(), 1..4), 1..7);
    let repeats = prop::collection::vec((0..7_usize, 0..7_usize), 0..4);
    let given = prop_oneof![3 => Just("What is this?"), 1 => Just("Is ChIJ-77x at Barnegat Inlet?")];
    (steps, repeats, given).prop_map(|(mut steps, repeats, given)| {
        for (from, to) in repeats {
            let (from, to) = (from % steps.len(), to % steps.len());
            let call = steps[from][0].clone();
            steps[to].push(call);
        }
        chain(vec![given.to_owned()], steps)
    })
}

fn reconstructed(chain: &Chain) -> (Vec<Dependency>, Reconstruction) {
    let found = dependencies(chain);
    let rules = by_rules(chain, &found);
    (found, rules)
}

fn step_count(chain: &Chain) -> usize {
    chain.calls.iter().map(|call| call.place.step).collect::<std::collections::BTreeSet<_>>().len()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_call_is_invented_and_none_is_lost_unsaid(chain in any_chain()) {
        let (_, found) = reconstructed(&chain);
        let mut places: Vec<_> = found.steps.concat();
        let is_reference = chain.calls.iter().all(|call| call.standing == CallStatus::NotRecorded);
        for &place in &places {
            prop_assert!(is_reference || chain.at(place).unwrap().standing == CallStatus::Succeeded);
        }
        places.extend(found.removed.iter().map(|removed| removed.place));
        places.sort();
        prop_assert_eq!(places, chain.calls.iter().map(|call| call.place).collect::<Vec<_>>());
    }

    #[test]
    fn no_dependency_is_broken(chain in any_chain()) {
        let (dependencies, found) = reconstructed(&chain);
        for dependency in &dependencies {
            let Some(to) = step_of(&found, dependency.to) else { continue };
            let from = step_of(&found, dependency.from);
            prop_assert!(from.is_some_and(|from| from < to), "{dependency:?} in {found:?}");
        }
    }

    #[test]
    fn nothing_grows_longer(chain in any_chain()) {
        let (_, found) = reconstructed(&chain);
        prop_assert!(found.steps.len() <= step_count(&chain));
        prop_assert!(found.steps.iter().all(|step| !step.is_empty()));
        prop_assert!(found.steps.concat().len() <= chain.calls.len());
    }

    #[test]
    fn applied_again_the_rules_change_nothing(chain in any_chain()) {
        let (_, found) = reconstructed(&chain);
        let again = rebuilt(&chain, &found);
        let (_, second) = reconstructed(&again);
        prop_assert!(second.removed.is_empty(), "{second:?} of {again:?}");
        prop_assert!(second.merged.is_empty(), "{second:?} of {again:?}");
        prop_assert_eq!(rebuilt(&again, &second), again);
    }

    #[test]
    fn the_check_accepts_what_the_rules_give(chain in any_chain()) {
        let (dependencies, found) = reconstructed(&chain);
        let is_reference = chain.calls.iter().all(|call| call.standing == CallStatus::NotRecorded);
        if found.steps.is_empty() || is_reference {
            return Ok(());
        }
        let checked = check(&chain, &dependencies, &proposed(&chain, &found));
        let checked = checked.map_err(|violations| TestCaseError::fail(format!("{violations:?} in {found:?}")))?;
        prop_assert_eq!(&checked.steps, &found.steps);
        prop_assert_eq!(&checked.removed, &found.removed);
        prop_assert_eq!(&checked.dependencies, &found.dependencies);
    }
}
