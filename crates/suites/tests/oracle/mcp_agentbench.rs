//! MCP-AgentBench: the four figures of agreement from reconstructed votes.

use m3_suites::{ChosenSuite, Trial, Values};
use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;

use super::{items, number, read, trajectory};

/// An answer with the verdicts of people and of the judge.
fn judged(votes: Json, judge: &str) -> Trajectory {
    let grade = Json::Integer(i64::from(judge == "pass"));
    let grades = Json::Object(vec![("mcp_eval".to_owned(), grade)]);
    let extra = vec![("votes".to_owned(), votes), ("grades".to_owned(), grades)];
    Trajectory { final_reply: Some("done".to_owned()), extra, ..trajectory("t", Vec::new()) }
}

fn score(answers: &[Trajectory]) -> Values {
    let mut scorer = "mcp-agentbench".parse::<ChosenSuite>().unwrap().open(None);
    let reference = trajectory("t", Vec::new());
    for answer in answers {
        scorer.trial(&Trial::new(&reference, Some(answer), 1));
    }
    scorer.finish().aggregate
}

#[test]
fn agreement_with_people() {
    let Some(oracle) = read("mcp-agentbench/oracle/agreement.json") else { return };
    let answer = |item: &Json| {
        judged(item.get("experts").unwrap().clone(), item.get("judge").and_then(Json::as_str).unwrap())
    };
    let answers: Vec<Trajectory> = items(oracle.get("items").unwrap()).iter().map(answer).collect();
    let (found, computed) = (score(&answers), oracle.get("computed").unwrap());
    for (name, scale) in [
        ("percent_agreement", 100.0),
        ("cohen_kappa", 1.0),
        ("fleiss_kappa", 1.0),
        ("three_way_agreement", 100.0),
    ] {
        let wanted = scale * number(computed.get(name).unwrap());
        assert!(
            (found.get(name).unwrap() - wanted).abs() < 1e-9,
            "{name}: {:?}, not {wanted}",
            found.get(name)
        );
    }
}

/// Five queries: one that passes, one that nobody judged, one whose answer is empty, which fails unasked; and two whose
/// reference has no answer to judge by.
#[test]
fn what_cannot_be_judged_is_left_out() {
    let mut scorer = "mcp-agentbench".parse::<ChosenSuite>().unwrap().open(None);
    let answered =
        |answer: &str| Trajectory { final_reply: Some(answer.to_owned()), ..trajectory("t", Vec::new()) };
    let (reference, silent) = (answered("4"), trajectory("t", Vec::new()));
    let passes = judged(Json::Array(Vec::new()), "pass");
    let values: Vec<Values> = [
        (&reference, &passes),
        (&reference, &answered("5")),
        (&silent, &answered("5")),
        (&reference, &answered(" ")),
        (&silent, &answered(" ")),
    ]
    .into_iter()
    .map(|(reference, found)| scorer.trial(&Trial::new(reference, Some(found), 1)))
    .collect();
    let verdicts: Vec<Option<f64>> = values.iter().map(|values| values.get("pass_rate")).collect();
    assert_eq!(verdicts, [Some(1.0), None, None, Some(0.0), None]);
    let result = scorer.finish();
    let value = |name: &str| result.aggregate.get(name);
    assert_eq!((value("pass_rate"), value("not_judged")), (Some(100.0 / 3.0), Some(1.0)));
    assert_eq!(result.notes.len(), 2, "{:?}", result.notes);
    assert!(result.notes[1].ends_with("left out: 2"), "{:?}", result.notes);
}

#[test]
fn kappas_are_undefined_where_everything_is_in_one_class() {
    let votes = Json::Array(vec![Json::String("pass".to_owned()); 3]);
    let scores = score(&vec![judged(votes, "pass"); 4]);
    assert_eq!((scores.get("cohen_kappa"), scores.get("fleiss_kappa")), (None, None));
    assert_eq!((scores.get("percent_agreement"), scores.get("pass_rate")), (Some(100.0), Some(100.0)));
}
