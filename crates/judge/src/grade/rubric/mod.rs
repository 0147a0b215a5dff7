//! What judges are asked: [`Rubric`], its [`Aspect`]s and what each measures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A way to grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rubric {
    /// Task Completion and Information Grounding (M³-Bench, section 4.4).
    #[serde(rename = "m3-bench")]
    M3Bench,
    /// Pass or fail against a reference answer (MCP-AgentBench, section 2.3).
    McpEval,
    /// Six respects from 1 to 10 (MCP-Bench, section 5.2).
    McpBench,
}

/// What is asked in one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// How completely was the task done?
    TaskCompletion,
    /// How much of what the reference found out was found out?
    InformationGrounding,
    /// Does the answer do what was asked?
    McpEval,
    /// The six respects of MCP-Bench.
    McpBench,
}

/// A respect of MCP-Bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Respect {
    /// Its key in a judge's answer.
    pub key: &'static str,
    /// What it is.
    pub text: &'static str,
}

/// Two respects that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    /// The name of its mean.
    pub key: &'static str,
    /// What the judge reads.
    pub title: &'static str,
    /// The respects.
    pub respects: [Respect; 2],
}

/// The axes of MCP-Bench (section 5.2).
pub const MCP_BENCH_AXES: [Axis; 3] = [
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
const MCP_BENCH_MEASURES: [&str; 10] = [
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

impl Rubric {
    /// All of them, the default first.
    pub const ALL: [Self; 3] = [Self::M3Bench, Self::McpEval, Self::McpBench];

    /// As users name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::M3Bench => "m3-bench",
            Self::McpEval => "mcp-eval",
            Self::McpBench => "mcp-bench",
        }
    }

    /// What is asked of each judge, one request each.
    #[must_use]
    pub const fn aspects(self) -> &'static [Aspect] {
        match self {
            Self::M3Bench => &[Aspect::TaskCompletion, Aspect::InformationGrounding],
            Self::McpEval => &[Aspect::McpEval],
            Self::McpBench => &[Aspect::McpBench],
        }
    }

    /// How often each judge is asked the same, where the user does not say.
    #[must_use]
    pub const fn passes(self) -> u32 {
        match self {
            Self::M3Bench | Self::McpEval => 1,
            // Section 5.2: five shufflings for each task.
            Self::McpBench => 5,
        }
    }
}

impl Aspect {
    /// What comes of it, the main measure first; each in [0, 1]. These are the keys of `grades`.
    #[must_use]
    pub const fn measures(self) -> &'static [&'static str] {
        match self {
            Self::TaskCompletion => &["task_completion"],
            Self::InformationGrounding => &["information_grounding"],
            Self::McpEval => &["mcp_eval"],
            Self::McpBench => &MCP_BENCH_MEASURES,
        }
    }

    /// The measure that judges are compared by.
    #[must_use]
    pub const fn main(self) -> &'static str {
        self.measures()[0]
    }

    /// Whether there is nothing to ask without a reference.
    #[must_use]
    pub const fn needs_reference(self) -> bool {
        matches!(self, Self::InformationGrounding | Self::McpEval)
    }

    /// Whether its main measure is 0 or 1.
    #[must_use]
    pub const fn is_verdict(self) -> bool {
        matches!(self, Self::McpEval)
    }
}
