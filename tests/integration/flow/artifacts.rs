//! Artifact agreement: what two trajectories leave behind, by hand.

use m3_score::{Flow, TrajectoryScore};
use serde_json::{Value, json};

use super::properties::scored;
use super::results::{drawn, of_steps, one, with_result};
use crate::support::call;

pub(super) fn agreement(score: &TrajectoryScore) -> Option<f64> {
    score.artifact_agreement
}

/// Forty files that are each made of the one before, and two that are made of each other.
#[test]
fn a_trajectory_leaves_behind_what_it_leaves_behind() {
    let named = |at: usize| format!("a{at}.csv");
    let filter = |at: usize| {
        let arguments = json!({"input": named(at), "output": named(at + 1)});
        vec![with_result(call("table/filter", arguments), json!(format!("{at} rows are left")))]
    };
    let steps: Vec<Vec<Value>> = (0..40).map(filter).collect();
    let chain = of_steps(&steps.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let made = |tool: &str, arguments: Value| [with_result(call(tool, arguments), json!("written"))];
    let circle = of_steps(&[
        &made("table/create", json!({"output": "a.csv"})),
        &made("table/create", json!({"output": "b.csv"})),
        &made("table/append", json!({"path": "a.csv", "source": "b.csv"})),
        &made("table/append", json!({"path": "b.csv", "source": "a.csv"})),
        &made("table/combine", json!({"input": "a.csv", "output": "c.csv"})),
    ]);
    for trajectory in [chain, circle] {
        assert_eq!(agreement(&one(&trajectory, &trajectory)), Some(1.0));
    }
}

#[test]
fn who_calls_nothing_leaves_nothing_behind() {
    let made = |id: &str| {
        let crop = call("image/crop", json!({"input_path": "images/plan.png", "output_path": "a.png"}));
        let mut made = of_steps(&[&[with_result(crop, json!("560 pixels wide"))]]);
        made["id"] = json!(id);
        made
    };
    let nothing = json!({"id": "2", "steps": []});
    let scores = scored(&[made("1"), nothing.clone()], &[made("1"), made("2")], Flow::On);
    assert_eq!(scores.iter().map(agreement).collect::<Vec<_>>(), [Some(1.0), Some(0.0)]);
    // Without results nothing is known; without calls there is nothing to know.
    let mut bare = made("1");
    bare["steps"][0]["calls"][0]["result"] = Value::Null;
    let scores = scored(&[bare, nothing], &[made("1"), made("2")], Flow::On);
    assert_eq!(scores.iter().map(agreement).collect::<Vec<_>>(), [None, Some(0.0)]);
}

/// Who asked for a new picture has lost the old one, whatever is read of it afterwards.
#[test]
fn a_picture_in_the_place_of_the_task_s_own_is_another_result() {
    let rotated = |output: &str| {
        drawn("image/rotate", json!({"input_path": "images/plan.png", "output_path": output}), "cm90YXRlZA==")
    };
    let framed = |input: &str| {
        drawn("image/frame", json!({"input_path": input, "output_path": "framed.png"}), "ZnJhbWVk")
    };
    let beside = of_steps(&[&[rotated("a.png")], &[framed("a.png")]]);
    let over = of_steps(&[&[rotated("images/plan.png")], &[framed("images/plan.png")]]);
    assert_eq!(agreement(&one(&over, &over)), Some(1.0));
    // `framed.png` is the same; the changed `plan.png` stands beside it.
    assert_eq!(agreement(&one(&over, &beside)), Some(0.5));
    let (beside, over) = (of_steps(&[&[rotated("a.png")]]), of_steps(&[&[rotated("images/plan.png")]]));
    assert_eq!(agreement(&one(&over, &beside)), Some(0.0));
    assert_eq!(agreement(&one(&over, &over)), Some(1.0));
}
