//! The four graders. The first and the third count mistakes, the second is stricter, the fourth prefers short
//! answers. The third grades no pictures of people.

use m3_testkit::model_server::SeenRequest;
use serde_json::json;

/// A step of a trajectory in the form of `crates/judge/src/grade/shown.rs`.
#[derive(Default)]
struct Step {
    tools: Vec<String>,
    failed: usize,
    /// Calls that are equal to an earlier call of the step.
    repeated: usize,
}

/// A grader's reply, chosen by the first words of `crates/judge/src/grade/prompts`.
pub(crate) fn play(grader: &str, question: &str, seen: &SeenRequest) -> String {
    let evidence = seen.texts.iter().find(|text| text.contains("The evidence follows.")).unwrap();
    let done = steps(part(evidence, "steps of the program"));
    if seen.system.starts_with("You grade how completely") {
        if grader == "grader-3" && question.contains("faces") {
            return "I do not grade pictures of people.".to_owned();
        }
        let answer = part(evidence, "final answer of the program");
        return format!("\\boxed{{{}}}", completion(grader, &done, answer));
    }
    let wanted = steps(part(evidence, "reference steps"));
    if wanted.is_empty() {
        // If nothing was needed, calling nothing is right.
        return format!("\\boxed{{{}}}", u8::from(done.is_empty()));
    }
    let (matrix, score) = grounding(grader, &wanted, &done);
    format!("{}\n\\boxed{{{score:.2}}}", json!({ "matrix": matrix }))
}

/// The text between the lines that begin and end a part.
fn part<'a>(evidence: &'a str, name: &str) -> &'a str {
    let (_, rest) = evidence.split_once(&format!(" begin {name}]\n")).unwrap();
    rest.split_once(&format!(" end {name}]")).unwrap().0
}

fn steps(part: &str) -> Vec<Step> {
    let (mut steps, mut calls) = (Vec::<Step>::new(), Vec::new());
    for line in part.lines() {
        if line.starts_with("step ") {
            steps.push(Step::default());
            calls.clear();
        }
        let Some(step) = steps.last_mut() else { continue };
        if let Some(tool) = line.strip_prefix("  call ") {
            step.tools.push(tool.to_owned());
        } else if let Some(arguments) = line.strip_prefix("    arguments ") {
            let call = (step.tools.last().cloned(), arguments.to_owned());
            step.repeated += usize::from(calls.contains(&call));
            calls.push(call);
        } else if line.starts_with("    failed with ") {
            step.failed += 1;
        }
    }
    steps
}

/// Points for plan, process and result: 3, 3 and 4.
fn completion(grader: &str, done: &[Step], answer: &str) -> usize {
    let count = |of: fn(&Step) -> usize| done.iter().map(of).sum::<usize>();
    let (calls, failed, repeated) =
        (count(|step| step.tools.len()), count(|step| step.failed), count(|step| step.repeated));
    if grader == "grader-4" {
        return 9_usize.saturating_sub(2 * done.len());
    }
    let is_partial = answer.contains("did not");
    let plan = 3 - repeated.min(1) - usize::from(calls == 0);
    let process = if calls == 0 { 1 } else { 3 - failed.min(1) * 2 };
    let result = 4 - 2 * usize::from(failed > 0 || is_partial);
    let severity = if grader == "grader-2" { usize::from(calls > 2) + usize::from(is_partial) } else { 0 };
    plan + process + result - severity
}

/// How far each step of the program has the tools of each step of the reference, and the mean over the reference's
/// steps.
fn grounding(grader: &str, wanted: &[Step], done: &[Step]) -> (Vec<Vec<f64>>, f64) {
    let entry = |(row, wanted): (usize, &Step), (column, done): (usize, &Step)| {
        let mut left = done.tools.clone();
        let covered = wanted.tools.iter().filter(|tool| {
            let place = left.iter().position(|other| other == *tool);
            place.map(|place| left.remove(place)).is_some()
        });
        let share = covered.count() as f64 / wanted.tools.len().max(1) as f64;
        match grader {
            // In halves, always rounded down.
            "grader-2" => (share * 2.0).floor() / 2.0,
            // Only steps in the same place count.
            "grader-4" if row != column => 0.0,
            _ => (share * 100.0).round() / 100.0,
        }
    };
    let row = |wanted: (usize, &Step)| done.iter().enumerate().map(|done| entry(wanted, done)).collect();
    let matrix: Vec<Vec<f64>> = wanted.iter().enumerate().map(row).collect();
    let covered: f64 = matrix.iter().map(|row| row.iter().sum::<f64>().min(1.0)).sum();
    let score = covered / matrix.len() as f64;
    (matrix, score)
}
