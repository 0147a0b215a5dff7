//! Candidate lists: the K tools that a task is offered, with those that it needs among them (`MCPAgentBench`, section 3.1 and
//! figure 6).

use std::collections::BTreeSet;

use m3_embedding::Embedder;
use m3_mcp::{Tool, ToolCatalog, ToolName};
use m3_support::text::{counted, shortened};
use m3_trajectory::Trajectory;
use m3_trajectory::tool_names::{is_same_tool, similar_tools};

use crate::distractors::{DistractorError, DistractorKind, distractors, narrowed};
use crate::seed::Seed;

/// How candidates are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidates {
    /// The number of tools that a task is offered.
    pub count: usize,
    /// The kind of tools that are offered beside those that the task needs.
    pub kind: DistractorKind,
    /// Decides random distractors and the order in which tools are offered, for each task anew.
    pub seed: u64,
}

/// Why a task has no candidates.
#[derive(Debug, thiserror::Error)]
pub enum CandidateError {
    /// A tool that the task needs is not there.
    #[error("its reference calls `{}`, which no server offers", shortened(.tool, 100))]
    NotOffered {
        /// The tool.
        tool: String,
    },
    /// The task needs more tools than it may have.
    #[error("it needs {}, which is more than {candidates}\nhint: ask for more candidates", counted(*.needed, "tool"))]
    TooManyNeeded {
        /// The number of tools that the task needs.
        needed: usize,
        /// The number of tools that the task may have.
        candidates: usize,
    },
    /// Distractors cannot be chosen.
    #[error(transparent)]
    Distractors(#[from] DistractorError),
}

impl Candidates {
    /// The tools that a task is offered, given its reference: those that this calls, and distractors. The candidates for a
    /// smaller count are among those for a greater one.
    ///
    /// A tool that solves the task as well is no distractor: one that a call of the reference names among its
    /// `similar_tools`, one with the name of a needed tool on another server, and one with the description and the schema of
    /// a needed tool. A task that needs no tool has random ones.
    ///
    /// # Errors
    /// [`CandidateError`].
    pub fn for_task(
        &self,
        reference: &Trajectory,
        catalog: &ToolCatalog,
        embedder: Option<&mut Embedder>,
    ) -> Result<ToolCatalog, CandidateError> {
        let needed = needed(reference, catalog)?;
        let count = self.count.checked_sub(needed.len());
        let count =
            count.ok_or(CandidateError::TooManyNeeded { needed: needed.len(), candidates: self.count })?;
        let similar: Vec<String> = reference.calls().flat_map(|(_, call)| similar_tools(call)).collect();
        let names: Vec<ToolName> = needed.iter().map(|(name, _)| name.clone()).collect();
        let is_other = |(name, tool): &(ToolName, &Tool)| !solves(name, tool, &needed, &similar);
        let others = catalog.tools().filter(is_other).map(|(name, _)| name).collect();
        let seed = Seed::new(self.seed).child("candidates").child(&reference.id);
        // Without a needed tool, no tool is near to one.
        let kind = if names.is_empty() { DistractorKind::Random } else { self.kind };
        let chosen = distractors(catalog, &names, others, (count, kind), seed, embedder)?;
        let offered: BTreeSet<ToolName> = names.into_iter().chain(chosen).collect();
        Ok(narrowed(catalog, &offered, Some(seed)))
    }
}

/// The tools that a reference calls, each once.
fn needed<'c>(
    reference: &Trajectory,
    catalog: &'c ToolCatalog,
) -> Result<Vec<(ToolName, &'c Tool)>, CandidateError> {
    let mut needed: Vec<(ToolName, &Tool)> = Vec::new();
    for (_, call) in reference.calls() {
        let mut matches = catalog.tools().filter(|(name, _)| is_same_tool(&name.to_string(), &call.tool));
        let tool = matches.next().ok_or_else(|| CandidateError::NotOffered { tool: call.tool.clone() })?;
        if needed.iter().all(|(known, _)| *known != tool.0) {
            needed.push(tool);
        }
    }
    Ok(needed)
}

/// Whether a tool solves a task as well as one of the needed tools.
fn solves(name: &ToolName, tool: &Tool, needed: &[(ToolName, &Tool)], similar: &[String]) -> bool {
    let is_similar = |other: &String| is_same_tool(&name.to_string(), other);
    let is_double = |(known, of): &(ToolName, &Tool)| {
        known.tool == name.tool
            || (tool.description.is_some()
                && tool.description == of.description
                && tool.input_schema == of.input_schema)
    };
    similar.iter().any(is_similar) || needed.iter().any(is_double)
}

#[cfg(test)]
mod tests {
    use m3_mcp::ServerTools;
    use m3_testkit::shared;
    use m3_trajectory::catalog::Catalog;
    use m3_trajectory::json::{Json, parse};
    use m3_trajectory::{Call, Duplicates, Step, TrajectoryFile};
    use serde_json::json;

    use super::*;

    fn reference(tools: &[&str]) -> Trajectory {
        let call =
            |tool: &&str| Call { tool: (*tool).to_owned(), arguments: None, result: None, extra: Vec::new() };
        let step = Step { calls: tools.iter().map(call).collect(), ..Step::default() };
        Trajectory { id: "task".to_owned(), steps: vec![step], ..Trajectory::default() }
    }

    /// Servers `a` and `b` with a tool of the same name, a double of `a/crop` under another name, and tools `t0` to `t9`.
    fn catalog() -> ToolCatalog {
        let tool = |name: &str, description: &str| json!({"name": name, "description": description, "inputSchema": {}});
        let mut others: Vec<_> = (0..10).map(|at| tool(&format!("t{at}"), &format!("number {at}"))).collect();
        others.push(tool("cut", "Cuts."));
        let servers = vec![
            ServerTools::from_wire("a", vec![tool("crop", "Cuts."), tool("blur", "Blurs.")]),
            ServerTools::from_wire("b", vec![tool("crop", "Crops.")]),
            ServerTools::from_wire("c", others),
        ];
        ToolCatalog { servers }
    }

    fn names(catalog: &ToolCatalog) -> Vec<String> {
        catalog.tools().map(|(name, _)| name.to_string()).collect()
    }

    fn random(count: usize, seed: u64) -> Candidates {
        Candidates { count, kind: DistractorKind::Random, seed }
    }

    #[test]
    fn lists_are_nested_hold_what_is_needed_and_no_double_of_it() {
        let (task, all) = (reference(&["a/crop", "a/crop", "c/t3"]), catalog());
        for seed in 0..50 {
            let of = |count| names(&random(count, seed).for_task(&task, &all, None).unwrap());
            for count in 2..=12 {
                let (smaller, greater) = (of(count.max(3) - 1), of(count));
                assert_eq!(greater.len(), count);
                assert!(smaller.iter().all(|name| greater.contains(name)), "{smaller:?} {greater:?}");
                assert!(["a/crop", "c/t3"].iter().all(|name| greater.contains(&(*name).to_owned())));
                assert!(["b/crop", "c/cut"].iter().all(|name| !greater.contains(&(*name).to_owned())));
                // Tools stay in the order that the seed gives them.
                let kept: Vec<_> = greater.iter().filter(|name| smaller.contains(name)).collect();
                assert_eq!(kept, smaller.iter().collect::<Vec<_>>());
            }
        }
        let another = Trajectory { id: "other".to_owned(), ..task.clone() };
        assert_ne!(
            names(&random(6, 0).for_task(&task, &all, None).unwrap()),
            names(&random(6, 0).for_task(&another, &all, None).unwrap())
        );
        let mut turned = all.clone();
        turned.servers.reverse();
        assert_eq!(
            names(&random(6, 0).for_task(&task, &all, None).unwrap()),
            names(&random(6, 0).for_task(&task, &turned, None).unwrap())
        );
    }

    #[test]
    fn similar_tools_are_no_distractors() {
        let mut task = reference(&["a/crop"]);
        let similar = parse(br#"["c/t0", {"name": "t1", "mcp_server": "c"}, "t2"]"#).unwrap().0;
        task.steps[0].calls[0].extra.push(("similar_tools".to_owned(), similar));
        // Thirteen others, but for the two doubles and the three similar ones.
        let offered = names(&random(9, 0).for_task(&task, &catalog(), None).unwrap());
        assert!(
            ["c/t0", "c/t1", "c/t2"].iter().all(|name| !offered.contains(&(*name).to_owned())),
            "{offered:?}"
        );
        let error = random(10, 0).for_task(&task, &catalog(), None).unwrap_err().to_string();
        assert!(
            error.starts_with("9 distractors are asked for, and 8 other tools may be offered"),
            "{error}"
        );
    }

    #[test]
    fn what_cannot_be_is_said() {
        let of = |tools: &[&str], count| {
            random(count, 0).for_task(&reference(tools), &catalog(), None).unwrap_err().to_string()
        };
        assert!(of(&["a/none"], 5).starts_with("its reference calls `a/none`, which no server offers"));
        assert!(of(&["a/crop", "a/blur"], 1).starts_with("it needs 2 tools, which is more than 1"));
        // A reference without a server, and a task that needs nothing.
        assert_eq!(random(2, 0).for_task(&reference(&["blur"]), &catalog(), None).unwrap().len(), 2);
        let near = Candidates { kind: DistractorKind::Near, ..random(3, 0) };
        assert_eq!(near.for_task(&reference(&[]), &catalog(), None).unwrap().len(), 3);
    }

    /// All references of the benchmark with its catalog of 232 tools.
    #[test]
    fn the_benchmark_s_tasks_have_nested_candidates() {
        let Some(data) = shared("open-m3-bench") else { return };
        let catalog = ToolCatalog::from(&Catalog::open(&data.join("tools.json")).unwrap());
        let references = TrajectoryFile::open(&data.join("references.json"), Duplicates::Last).unwrap();
        for index in 0..references.len() {
            let task = references.read(index).unwrap();
            let of = |count| names(&random(count, 7).for_task(&task, &catalog, None).unwrap());
            let (twenty, forty) = (of(20), of(40));
            assert!(
                twenty.len() == 20 && forty.len() == 40 && twenty.iter().all(|name| forty.contains(name))
            );
            assert!(task.calls().all(|(_, call)| twenty.contains(&call.tool)), "{}", task.id);
        }
        assert!(references.len() > 200);
    }

    #[test]
    fn a_reference_s_members_of_other_kinds_are_no_similar_tools() {
        let mut task = reference(&["a/crop"]);
        task.steps[0].calls[0].extra.push(("similar_tools".to_owned(), Json::Null));
        assert!(random(5, 0).for_task(&task, &catalog(), None).is_ok());
    }
}
