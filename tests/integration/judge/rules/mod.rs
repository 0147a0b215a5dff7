//! Dependencies and reconstructions by rules: properties of random runs, real references turned back into runs, and
//! recorded runs of our own benchmark.

mod catalog;
mod generator;
mod planted;
mod properties;
mod recorded;
mod references;

use std::collections::BTreeSet;

use m3_flow::{CallPlace, CallStatus, Chain, ChainCall};
use m3_judge::reconstruct::{Proposal, ProposedCall, Reconstruction};
use m3_trajectory::json::Json;
use serde_json::Value;

/// A call; without a result it failed.
fn made(tool: &str, arguments: &Value, result: Result<&Value, &str>) -> ChainCall {
    let (result, standing) = match result {
        Ok(result) => (Json::from(result), CallStatus::Succeeded),
        Err(error) => (Json::String(error.to_owned()), CallStatus::Failed("tool_error".to_owned())),
    };
    ChainCall {
        place: CallPlace { step: 0, call: 0 },
        tool: tool.to_owned(),
        arguments: (!arguments.is_null()).then(|| Json::from(arguments)),
        result: Some(result),
        standing,
        read_only: None,
    }
}

/// A chain of these steps.
fn chain(given: Vec<String>, steps: Vec<Vec<ChainCall>>) -> Chain {
    let mut calls = Vec::new();
    for (step, found) in steps.into_iter().filter(|step| !step.is_empty()).enumerate() {
        for (call, found) in found.into_iter().enumerate() {
            calls.push(ChainCall { place: CallPlace { step, call }, ..found });
        }
    }
    Chain { calls, given }
}

/// The run that follows a reconstruction.
fn rebuilt(chain: &Chain, found: &Reconstruction) -> Chain {
    let step =
        |places: &Vec<CallPlace>| places.iter().map(|&place| chain.at(place).unwrap().clone()).collect();
    self::chain(chain.given.clone(), found.steps.iter().map(step).collect())
}

/// A reconstruction in the form of a model's proposal.
fn proposed(chain: &Chain, found: &Reconstruction) -> Proposal {
    let call = |&place: &CallPlace| {
        let call = chain.at(place).unwrap();
        ProposedCall { name: call.tool.clone(), arguments: call.arguments.clone() }
    };
    Proposal { steps: found.steps.iter().map(|step| step.iter().map(call).collect()).collect() }
}

/// The new step of each call of the run.
fn step_of(found: &Reconstruction, place: CallPlace) -> Option<usize> {
    found.steps.iter().position(|step| step.contains(&place))
}

/// Steps as sets, because the order within a step does not matter.
fn sets<T: Ord + Clone>(steps: &[Vec<T>]) -> Vec<BTreeSet<T>> {
    steps.iter().map(|step| step.iter().cloned().collect()).collect()
}
