//! The rubric of M³-Bench: Task Completion and Information Grounding (section 4.4).

use askama::Template;

use super::super::answer::{Answer, ReadReply, boxed, number, read_matrix};
use super::super::shown;
use super::super::subject::Subject;
use super::{AspectRow, MatrixSize, RubricRow, prompt};
use crate::fence::Part;

pub(super) static RUBRIC: RubricRow = RubricRow {
    name: "m3-bench",
    meaning: "Task Completion and Information Grounding of M3-Bench",
    passes: 1,
    aspects: &[
        AspectRow {
            meaning: "How completely was the task done?",
            measures: &[TASK_COMPLETION],
            needs_reference: false,
            is_verdict: false,
            has_matrix: false,
            evidence: |subject| vec![shown::steps_of(subject), shown::answer_of(subject)],
            instructions: |_, _| TaskCompletionPrompt.render(),
            read: |reply, _| {
                let score = number(&boxed(reply)?, 10.0)?;
                Ok(ReadReply::Whole(Answer::of(TASK_COMPLETION, score / 10.0)))
            },
        },
        AspectRow {
            meaning: "How much of what the reference found out was found out?",
            measures: &[INFORMATION_GROUNDING],
            needs_reference: true,
            is_verdict: false,
            has_matrix: true,
            evidence: grounding_evidence,
            instructions: |matrix, _| {
                let (references, predictions) = matrix.unwrap_or_default();
                GroundingPrompt { has_matrix: matrix.is_some(), references, predictions }.render()
            },
            read: read_grounding,
        },
    ],
    prompts: &[prompt!("grade_task_completion.txt"), prompt!("grade_information_grounding.txt")],
};

const TASK_COMPLETION: &str = "task_completion";

const INFORMATION_GROUNDING: &str = "information_grounding";

fn grounding_evidence(subject: &Subject) -> Vec<Part> {
    let reference = subject.reference.as_ref();
    let reference = reference.map(|reference| Part::new("reference steps", shown::steps(reference)));
    reference.into_iter().chain([shown::steps_of(subject)]).collect()
}

fn read_grounding(reply: &str, matrix: MatrixSize) -> Result<ReadReply, String> {
    let mut answer = Answer::of(INFORMATION_GROUNDING, number(&boxed(reply)?, 1.0)?);
    match matrix.map(|size| read_matrix(reply, size)) {
        None => Ok(ReadReply::Whole(answer)),
        Some(Ok(matrix)) => {
            answer.matrix = Some(matrix);
            Ok(ReadReply::Whole(answer))
        }
        Some(Err(problem)) => Ok(ReadReply::WithoutMatrix(answer, problem)),
    }
}

#[derive(Template)]
#[template(path = "grade_task_completion.txt", escape = "none")]
struct TaskCompletionPrompt;

#[derive(Template)]
#[template(path = "grade_information_grounding.txt", escape = "none")]
struct GroundingPrompt {
    has_matrix: bool,
    references: usize,
    predictions: usize,
}
