//! The rubric of MCP-AgentBench: pass or fail against a reference answer (section 2.3).

use askama::Template;
use m3_support::text::shortened;

use super::super::answer::{Answer, ReadReply, boxed};
use super::super::shown;
use super::super::subject::Subject;
use super::{AspectRow, MatrixSize, RubricRow, prompt};
use crate::fence::Part;

pub(super) static RUBRIC: RubricRow = RubricRow {
    name: "mcp-eval",
    meaning: "Pass or fail against the reference's answer, of MCP-AgentBench",
    passes: 1,
    aspects: &[AspectRow {
        meaning: "Does the answer do what was asked?",
        measures: &[MCP_EVAL],
        needs_reference: true,
        is_verdict: true,
        has_matrix: false,
        evidence,
        instructions: |_, _| McpEvalPrompt.render(),
        read,
    }],
    prompts: &[prompt!("grade_mcp_eval.txt")],
};

const MCP_EVAL: &str = "mcp_eval";

fn evidence(subject: &Subject) -> Vec<Part> {
    let reference = subject.reference.as_ref();
    let reference = reference.map(|reference| Part::new("reference answer", shown::answer(reference)));
    reference.into_iter().chain([shown::answer_of(subject)]).collect()
}

fn read(reply: &str, _: MatrixSize) -> Result<ReadReply, String> {
    let score = match boxed(reply)?.to_ascii_lowercase().as_str() {
        "pass" => 1.0,
        "fail" => 0.0,
        other => return Err(format!("`{}` is neither pass nor fail", shortened(other, 40))),
    };
    Ok(ReadReply::Whole(Answer::of(MCP_EVAL, score)))
}

#[derive(Template)]
#[template(path = "grade_mcp_eval.txt", escape = "none")]
struct McpEvalPrompt;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_pass_or_fail() {
        let read = |reply: &str| match read(reply, None) {
            Ok(ReadReply::Whole(answer)) => Some(answer.scores[MCP_EVAL]),
            _ => None,
        };
        assert_eq!(read(r"\boxed{pass}"), Some(1.0));
        assert_eq!(read(r"\boxed{FAIL}"), Some(0.0));
        for reply in [r"\boxed{pass} \boxed{fail}", "pass", r"\boxed{passed}", r"\boxed{1}"] {
            assert_eq!(read(reply), None, "{reply}");
        }
    }
}
