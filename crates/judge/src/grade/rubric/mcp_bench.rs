//! The rubric of MCP-Bench: six respects from 1 to 10, in changing order (section 5.2).

use std::collections::BTreeMap;

use askama::Template;
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;
use serde_json::Value;

use super::super::answer::{Answer, ReadReply, object_with};
use super::super::shown;
use super::super::subject::Subject;
use super::{AspectRow, MatrixSize, RubricRow, prompt};
use crate::fence::Part;

pub(super) static RUBRIC: RubricRow = RubricRow {
    name: "mcp-bench",
    meaning: "Six respects from 1 to 10, in changing order, of MCP-Bench",
    // Section 5.2: five shufflings for each task.
    passes: 5,
    aspects: &[AspectRow {
        meaning: "The six respects of MCP-Bench.",
        measures: &MEASURES,
        needs_reference: false,
        is_verdict: false,
        has_matrix: false,
        evidence,
        instructions: |_, order| {
            let axes = ordered(order);
            let keys = axes.iter().flat_map(|axis| axis.respects).map(|respect| respect.key).collect();
            McpBenchPrompt { axes, keys }.render()
        },
        read,
    }],
    prompts: &[prompt!("grade_mcp_bench.txt")],
};

/// One of the six respects that MCP-Bench grades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Respect {
    /// The key of the respect in a judge's answer.
    key: &'static str,
    /// The meaning of the respect, for the judge.
    text: &'static str,
}

/// Two respects that MCP-Bench groups together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Axis {
    /// The name of the mean of both.
    key: &'static str,
    /// The heading that the judge reads.
    title: &'static str,
    /// The respects.
    respects: [Respect; 2],
}

/// The axes of MCP-Bench (section 5.2).
const AXES: [Axis; 3] = [
    Axis {
        key: "task_completion_quality",
        title: "What was achieved",
        respects: [
            Respect {
                key: "task_fulfillment",
                text: "the share of what the question requires that the final answer gives, right and whole",
            },
            Respect {
                key: "information_grounding",
                text: "the share of the final answer's claims that results of tools support",
            },
        ],
    },
    Axis {
        key: "tool_usage_quality",
        title: "How tools were used",
        respects: [
            Respect {
                key: "tool_appropriateness",
                text: "the share of calls whose tool was the best choice for what it was to do",
            },
            Respect {
                key: "parameter_accuracy",
                text: "the share of calls whose arguments were right and whole",
            },
        ],
    },
    Axis {
        key: "planning_effectiveness",
        title: "How the work was planned",
        respects: [
            Respect {
                key: "dependency_awareness",
                text: "the share of dependencies between calls that were respected: what needs a result comes after it and uses it",
            },
            Respect {
                key: "parallelism_and_efficiency",
                text: "the share of calls that were not redundant and, where independent of one another, were made at once",
            },
        ],
    },
];

/// The measures of MCP-Bench: the mean of the axes, the axes, the respects.
const MEASURES: [&str; 10] = [
    "mcp_bench",
    "mcp_bench_task_completion_quality",
    "mcp_bench_tool_usage_quality",
    "mcp_bench_planning_effectiveness",
    "mcp_bench_task_fulfillment",
    "mcp_bench_information_grounding",
    "mcp_bench_tool_appropriateness",
    "mcp_bench_parameter_accuracy",
    "mcp_bench_dependency_awareness",
    "mcp_bench_parallelism_and_efficiency",
];

fn evidence(subject: &Subject) -> Vec<Part> {
    let reference = subject.reference.as_ref().map(|reference| {
        Part::new("one right way to do it, which the program did not see", shown::steps(reference))
    });
    let tools = subject.tools.as_ref();
    let tools = tools.map(|tools| Part::new("tools that the program could call", tools.to_string()));
    reference.into_iter().chain(tools).chain([shown::steps_of(subject), shown::answer_of(subject)]).collect()
}

/// The three axes and the respects in each, in the order with this number.
fn ordered(order: u64) -> Vec<Axis> {
    let mut random = ChaCha8Rng::seed_from_u64(order);
    let mut axes = AXES.to_vec();
    axes.shuffle(&mut random);
    for axis in &mut axes {
        axis.respects.shuffle(&mut random);
    }
    axes
}

/// The six respects, each divided by ten, their means by axis, and the mean of the axes (MCP-Bench, section 5.2).
fn read(reply: &str, _: MatrixSize) -> Result<ReadReply, String> {
    let object = object_with(reply, AXES[0].respects[0].key)?;
    let mut scores = BTreeMap::new();
    let mut sum = 0.0;
    for axis in AXES {
        let mut of_axis = 0.0;
        for respect in axis.respects {
            // `8.0` is a whole number as asked for, `7.5` is not.
            let score = object.get(respect.key).and_then(Value::as_f64);
            let score = score.filter(|score| (1.0..=10.0).contains(score) && score.fract().abs() < 1e-9);
            let score = score
                .ok_or_else(|| format!("`{}` should be a whole number from 1 to 10", respect.key))?
                / 10.0;
            scores.insert(format!("mcp_bench_{}", respect.key), score);
            of_axis += score / 2.0;
        }
        scores.insert(format!("mcp_bench_{}", axis.key), of_axis);
        sum += of_axis;
    }
    scores.insert(MEASURES[0].to_owned(), sum / 3.0);
    Ok(ReadReply::Whole(Answer { scores, matrix: None }))
}

#[derive(Template)]
#[template(path = "grade_mcp_bench.txt", escape = "none")]
struct McpBenchPrompt {
    axes: Vec<Axis>,
    keys: Vec<&'static str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_mcp_bench_changes_and_its_words_do_not() {
        let keys = |order| -> Vec<&str> {
            ordered(order).iter().flat_map(|axis| axis.respects).map(|respect| respect.key).collect()
        };
        let orders: std::collections::BTreeSet<Vec<&str>> = (0..40).map(keys).collect();
        assert!(orders.len() > 10, "3! x 2^3 orders are possible");
        assert_eq!(keys(7), keys(7));
        for order in orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), 6);
        }
    }

    #[test]
    fn six_respects_give_three_axes_and_a_mean() {
        // By hand: axes (0.8 + 0.6) / 2, (1.0 + 0.5) / 2, (0.4 + 0.1) / 2; their mean 1.7 / 3.
        let reply = r#"Here: {"task_fulfillment": 8, "information_grounding": 6, "tool_appropriateness": 10,
            "parameter_accuracy": 5, "dependency_awareness": 4, "parallelism_and_efficiency": 1}"#;
        let Ok(ReadReply::Whole(answer)) = read(reply, None) else { panic!("it is whole") };
        let near = |name: &str, expected: f64| {
            assert!((answer.scores[name] - expected).abs() < 1e-12, "{name}: {}", answer.scores[name]);
        };
        near("mcp_bench_task_completion_quality", 0.7);
        near("mcp_bench_tool_usage_quality", 0.75);
        near("mcp_bench_planning_effectiveness", 0.25);
        near("mcp_bench_parallelism_and_efficiency", 0.1);
        near("mcp_bench", 1.7 / 3.0);
        let mut names: Vec<&str> = answer.scores.keys().map(String::as_str).collect();
        let mut measures = MEASURES.to_vec();
        names.sort_unstable();
        measures.sort_unstable();
        assert_eq!(names, measures);
        for (from, to) in [
            ("8", "0"),
            ("8", "11"),
            ("8", "7.5"),
            ("8", "-8"),
            ("8", "\"8\""),
            ("\"parameter_accuracy\": 5,", ""),
        ] {
            assert!(read(&reply.replacen(from, to, 1), None).is_err(), "{to}");
        }
    }
}
