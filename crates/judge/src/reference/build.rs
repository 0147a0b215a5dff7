//! Turns a run and its reconstruction into the trajectory that is written: a native one with the task's own keys.

use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, Member as _, Step, Trajectory, file_names, is_recorded_key};

use super::provenance::Provenance;
use crate::Chain;
use crate::reconstruct::Reconstruction;

/// The reference: the calls of the run in their new steps, with their results.
pub(super) fn reference(run: &Trajectory, chain: &Chain, reconstruction: &Reconstruction) -> Trajectory {
    let steps = reconstruction.steps.iter().map(|places| {
        let calls = places.iter().filter_map(|place| chain.at(*place)).map(|call| Call {
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            result: call.result.clone(),
            extra: Vec::new(),
        });
        calls.collect::<Vec<_>>()
    });
    with_steps(run, steps)
}

/// Takes the results out of a reference. A result that has the only copy of a file stays if a later call names the file:
/// without it the calls could not be made again.
pub fn leave_out_results(reference: &mut Trajectory) {
    let mut named_later = String::new();
    for step in reference.steps.iter_mut().rev() {
        for call in &mut step.calls {
            let names = call.result.as_ref().map(file_names).unwrap_or_default();
            if !names.into_iter().flatten().any(|name| named_later.contains(name)) {
                call.result = None;
            }
        }
        let arguments = step.calls.iter().filter_map(|call| call.arguments.as_ref());
        arguments.for_each(|arguments| named_later.push_str(&arguments.to_text(Keys::AsRead)));
    }
}

/// A run that gives no reference, with the results of its calls, so that people can see why.
pub(super) fn refused(run: &Trajectory) -> Trajectory {
    let steps = run.steps.iter().map(|step| {
        let calls = step.calls.iter().map(|call| Call { extra: Vec::new(), ..call.clone() });
        calls.collect::<Vec<_>>()
    });
    with_steps(run, steps)
}

fn with_steps(run: &Trajectory, steps: impl Iterator<Item = Vec<Call>>) -> Trajectory {
    let numbered = (1..).zip(steps);
    Trajectory {
        id: run.id.clone(),
        image: run.image.clone(),
        task_type: run.task_type.clone(),
        question: run.question.clone(),
        steps: numbered
            .map(|(number, calls)| Step { number: Some(number), calls, ..Step::default() })
            .collect(),
        final_reply: run.final_reply.clone(),
        extra: keys_of_the_task(run),
    }
}

/// The keys of a run's file that describe the task. In a prediction of `m3 run` these are all keys that the run has
/// not added; in other files only `prompt` is known to belong to the task.
fn keys_of_the_task(run: &Trajectory) -> Vec<(String, Json)> {
    let is_recorded = run.is_prediction();
    let is_kept =
        |key: &str| key == "prompt" || (is_recorded && !is_recorded_key(key) && key != Provenance::KEY);
    run.extra.iter().filter(|(key, _)| is_kept(key)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use m3_outcomes::KnownTools;

    use super::*;
    use crate::{CallPlace, chain_of_run};

    fn json(text: &str) -> Json {
        m3_trajectory::json::parse(text.as_bytes()).unwrap().0
    }

    fn run(extra: Vec<(String, Json)>) -> Trajectory {
        let call = |argument: &str| Call {
            tool: "a/b".to_owned(),
            arguments: Some(json(argument)),
            result: Some(Json::String("7".to_owned())),
            extra: vec![("outcome".to_owned(), Json::String("success".to_owned()))],
        };
        let step = |calls| Step { calls, ..Step::default() };
        Trajectory {
            id: "t".to_owned(),
            steps: vec![step(vec![call(r#"{"x": 5.0}"#)]), step(vec![call("{}"), call(r#"{"x": 1e400}"#)])],
            final_reply: Some("Seven.".to_owned()),
            extra,
            ..Trajectory::default()
        }
    }

    #[test]
    fn a_reference_has_the_calls_that_are_left_and_the_keys_of_the_task() {
        let place = |step, call| CallPlace { step, call };
        let versions = json(r#"{"m3": "0", "schema": "m3.prediction/1"}"#);
        let own = |key: &str| (key.to_owned(), Json::Bool(true));
        let run = run(vec![own("prompt"), own("finish"), own("level"), ("versions".to_owned(), versions)]);
        let chain = chain_of_run(&run, &KnownTools::default());
        let steps = vec![vec![place(0, 0), place(1, 0)]];
        let reconstruction = Reconstruction { steps, ..Reconstruction::default() };
        let text = reference(&run, &chain, &reconstruction).to_json().to_text(Keys::AsRead);
        assert_eq!(
            text,
            r#"{"id":"t","steps":[{"step":1,"calls":[{"name":"a/b","arguments":{"x":5.0},"result":"7"},{"name":"a/b","arguments":{},"result":"7"}]}],"final_reply":"Seven.","prompt":true,"level":true}"#
        );
    }

    #[test]
    fn results_are_left_out_but_those_that_have_a_file_for_later_calls() {
        let picture = |name: &str| {
            let part = format!(r#"{{"type":"image","file":"results/1.png"{name}}}"#);
            Some(json(&format!(r#"{{"content":[{part}]}}"#)))
        };
        let call = |arguments: &str, result| Call {
            tool: "a/b".to_owned(),
            arguments: Some(json(arguments)),
            result,
            extra: Vec::new(),
        };
        let put = r#","name":"result-00001-0.png""#;
        let step = |calls| Step { calls, ..Step::default() };
        let mut reference = Trajectory {
            steps: vec![
                step(vec![call("{}", picture(put)), call("{}", picture(""))]),
                step(vec![call(r#"{"path":"result-00001-0.png"}"#, picture(put))]),
            ],
            ..Trajectory::default()
        };
        leave_out_results(&mut reference);
        let left: Vec<bool> = reference.calls().map(|(_, call)| call.result.is_some()).collect();
        assert_eq!(left, [true, false, false]);
    }

    #[test]
    fn keys_of_other_files_may_be_of_the_run_and_are_left_out() {
        let run = run(vec![("num_step".to_owned(), Json::Integer(2)), ("prompt".to_owned(), Json::Null)]);
        let refused = refused(&run);
        assert_eq!(refused.extra, [("prompt".to_owned(), Json::Null)]);
        let call = &refused.steps[0].calls[0];
        assert!(call.result.is_some() && call.extra.is_empty());
        assert_eq!(refused.steps[1].number, Some(2));
    }
}
