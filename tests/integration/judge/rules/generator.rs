//! Turns references back into runs: with results that contain values of later steps, with failures, repeats and
//! needless splits.
//!
//! What counts as a value and how results look is defined here independently, not taken from the rules under test.

use std::collections::BTreeMap;

use m3_flow::{Chain, ChainCall};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::{chain, made};

/// Numbers that look random and are the same each time (`SplitMix64`).
pub(super) struct Dice(u64);

/// A step and a call within it, both from 0.
type Place = (usize, usize);

/// Calls made at once, and the call of the reference that each corresponds to.
type Part = Vec<(ChainCall, Option<Place>)>;

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end.max(1) as u64).unwrap()
    }
}

/// A call of a reference.
#[derive(Clone)]
pub(super) struct Original {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// A reference.
pub(super) struct Reference {
    pub(super) given: Vec<String>,
    pub(super) steps: Vec<Vec<Original>>,
}

/// Arguments whose values come from a list of words that the tool's schema does not show: Google's types of places
/// (Places API, "Place Types", Table A).
const CHOSEN: [(&str, &str); 1] = [("google-maps/places_nearby_search", "includedTypes")];

/// Servers whose calls change their state: neither a split nor a repeat of these is needless.
const STATEFUL: [&str; 2] = ["ppt/", "excel/"];

fn is_stateful(tool: &str) -> bool {
    STATEFUL.iter().any(|server| tool.starts_with(server))
}

/// A value to put into a result: it is among a call's arguments, but neither in the task nor in an earlier argument.
struct Carried {
    name: String,
    value: Value,
}

impl Reference {
    /// Reads a reference from a file's JSON.
    pub(super) fn new(trajectory: &Value) -> Self {
        let text = |key: &str| trajectory[key].as_str().map(str::to_owned);
        let call = |call: &Value| Original {
            tool: call["name"].as_str().unwrap().to_owned(),
            arguments: call.get("arguments").cloned().unwrap_or(Value::Null),
        };
        let steps = trajectory["steps"].as_array().unwrap();
        let steps = steps.iter().map(|step| step["calls"].as_array().unwrap().iter().map(call).collect());
        Self {
            given: [text("question"), text("image")].into_iter().flatten().collect(),
            steps: steps.filter(|step: &Vec<Original>| !step.is_empty()).collect(),
        }
    }

    /// For each call of a step, the values in its arguments that are new: neither the task nor an earlier call has
    /// them.
    fn carried(&self, step: usize) -> Vec<Vec<Carried>> {
        let before = self.steps[..step].iter().flatten().map(|call| call.arguments.to_string());
        let known: Vec<String> =
            self.given.iter().cloned().chain(before).map(|text| text.to_lowercase()).collect();
        let is_new = |text: &str| !known.iter().any(|known| known.contains(&text.to_lowercase()));
        self.steps[step]
            .iter()
            .map(|call| {
                let mut values = Vec::new();
                collect("", &call.arguments, &mut values);
                values.retain(|carried| is_new(&plain(&carried.value)));
                values
            })
            .collect()
    }

    /// Whether every call of every later step uses a value of this length that the step before it can have returned.
    pub(super) fn carries_values(&self, least: Length, tools: &Tools) -> bool {
        let is_long = |carried: &Carried, tool: &str| {
            let text = plain(&carried.value);
            let length = text.chars().filter(|c| c.is_alphanumeric()).count();
            // A value listed in the tool's own description is chosen from there, not taken from a result.
            let is_chosen = CHOSEN.contains(&(tool, &carried.name));
            if is_chosen || tools.get(tool).is_some_and(|said| said.contains(&text.to_lowercase())) {
                return false;
            }
            match carried.value {
                Value::Number(_) => length >= least.digits && !text.ends_with("00"),
                _ => length >= least.letters,
            }
        };
        (1..self.steps.len()).all(|step| {
            let calls = self.carried(step).into_iter().zip(&self.steps[step]);
            calls.into_iter().all(|(values, call)| values.iter().any(|value| is_long(value, &call.tool)))
        })
    }

    /// Makes a result for each call. The new values of each step are put into results of the step before.
    fn results(&self, dice: &mut Dice) -> Vec<Vec<Value>> {
        let mut results = Vec::new();
        for (step, calls) in self.steps.iter().enumerate() {
            let mut dealt: Vec<Vec<Carried>> = calls.iter().map(|_| Vec::new()).collect();
            if step + 1 < self.steps.len() {
                for values in self.carried(step + 1) {
                    // All values that a call uses come from the same call.
                    let from = dice.below(calls.len());
                    dealt[from].extend(values);
                }
            }
            results.push(
                dealt.iter().enumerate().map(|(call, values)| shaped(values, step, call, dice)).collect(),
            );
        }
        results
    }

    /// A run that does more than needed. For each of its calls also the place of the reference's call, but none for
    /// failures and repeats.
    pub(super) fn run(&self, dice: &mut Dice, spoiled: Spoiled) -> (Chain, BTreeMap<Place, Place>) {
        let results = self.results(dice);
        let mut steps: Vec<Part> = Vec::new();
        let mut done: Vec<ChainCall> = Vec::new();
        for (step, calls) in self.steps.iter().enumerate() {
            let mut parts: Vec<Part> = vec![Vec::new()];
            for (call, original) in calls.iter().enumerate() {
                let good = made(&original.tool, &original.arguments, Ok(&results[step][call]));
                let is_free =
                    !calls.iter().any(|call| is_stateful(&call.tool)) || !is_stateful(&original.tool);
                if spoiled.splits > 0
                    && is_free
                    && dice.below(spoiled.splits) == 0
                    && !parts.last().unwrap().is_empty()
                {
                    parts.push(Vec::new());
                }
                if spoiled.failures && is_free && dice.below(5) == 0 {
                    // A failed try, and the repeat in a separate step.
                    let error = "Error: 503 Service Unavailable, try again later";
                    let failed = made(&original.tool, &original.arguments, Err(error));
                    parts.last_mut().unwrap().push((failed, None));
                    parts.push(Vec::new());
                }
                parts.last_mut().unwrap().push((good.clone(), Some((step, call))));
                done.push(good);
            }
            if spoiled.repeats && dice.below(2) == 0 {
                let again = done[dice.below(done.len())].clone();
                if !is_stateful(&again.tool) {
                    parts.push(vec![(again, None)]);
                }
            }
            steps.extend(parts);
        }
        let mut origins = BTreeMap::new();
        for (step, calls) in steps.iter().enumerate() {
            for (call, (_, origin)) in calls.iter().enumerate() {
                origins.extend(origin.map(|origin| ((step, call), origin)));
            }
        }
        let calls = steps.into_iter().map(|step| step.into_iter().map(|(call, _)| call).collect()).collect();
        (chain(self.given.clone(), calls), origins)
    }
}

/// The description and the schema of each tool's arguments, in lower case.
pub(super) type Tools = BTreeMap<String, String>;

/// The least length of a value that reveals its source.
#[derive(Clone, Copy)]
pub(super) struct Length {
    /// Letters and digits of a text.
    pub(super) letters: usize,
    /// Digits of a number that is not round.
    pub(super) digits: usize,
}

/// The flaws that are added to a run.
#[derive(Clone, Copy)]
pub(super) struct Spoiled {
    pub(super) failures: bool,
    pub(super) repeats: bool,
    /// One of this many neighbours in a step is split off; 0 for none.
    pub(super) splits: usize,
}

fn collect(name: &str, value: &Value, values: &mut Vec<Carried>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(name, item, values)),
        Value::Object(members) => members.iter().for_each(|(name, item)| collect(name, item, values)),
        value => {
            let text = plain(value);
            let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
            let is_value = !value.is_null() && !value.is_boolean() && letters >= 3;
            if is_value {
                values.push(Carried { name: name.to_owned(), value: value.clone() });
            }
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A result in a form that tools use, with these values somewhere in it.
fn shaped(values: &[Carried], step: usize, call: usize, dice: &mut Dice) -> Value {
    let mut noise = || 1000 + dice.below(9000);
    let (first, second) = (noise(), noise());
    let id = format!("obj-{step}{call}-{first}");
    let shape = dice.below(8);
    let row = |carried: &Carried| json!({"id": 7, "label": "row", "score": 0.5, carried.name.clone(): carried.value});
    let rows: Vec<Value> = values.iter().map(row).collect();
    let lines: Vec<String> = values
        .iter()
        .enumerate()
        .map(|(index, carried)| format!("{}. {}", index + 1, plain(&carried.value)))
        .collect();
    match shape {
        0 => json!({"status": "ok", "total": second, "results": rows, "request": id}),
        1 => {
            json!({"content": [{"type": "text", "text": json!({"items": rows, "next": null}).to_string()}], "structuredContent": {"items": rows}})
        }
        2 => json!(format!("Found {} entries ({id}):\n{}\nShowing page 1.", values.len(), lines.join("\n"))),
        3 => Value::Array(values.iter().map(|carried| carried.value.clone()).chain([json!(id)]).collect()),
        4 => {
            json!({"data": {"hits": {"items": values.iter().map(|carried| json!({"node": {"value": plain(&carried.value)}})).collect::<Vec<_>>()}}, "took": first})
        }
        5 => {
            let link = |carried: &Carried| {
                let value = utf8_percent_encode(&plain(&carried.value), NON_ALPHANUMERIC).to_string();
                json!({"href": format!("https://a.example/view?of={value}&page=1"), "label": "open"})
            };
            json!({"links": values.iter().map(link).collect::<Vec<_>>(), "request": id})
        }
        6 => json!(format!("IN SHORT, IT IS {} ({id})", lines.join(" OR ").to_uppercase())),
        _ => json!(format!("The best match is {}, as of today ({id}).", lines.join("; also "))),
    }
}
