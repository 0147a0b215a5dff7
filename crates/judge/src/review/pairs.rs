//! Original against reconstructed trajectories, shown to people who do not know which is which (M³-Bench, section 6.4).

use m3_support::text::{head, json_without_hidden, shortened, visible};
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, Trajectory};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::checks::{checked_note, person};
use super::desk::{ImageSize, ImageSource, Images, failed, image, not_kept, sent};
use super::evidence::{passage, shown};
use super::labelling::name_of;
use super::page::{Mode, page};
use super::preferences::{Counts, Pairs, Version, on_the_left};
use m3_web::{HandlerMut, Page, Request, Response};

/// The most bytes of arguments that are shown.
const LONGEST_ARGUMENTS: usize = 20_000;

/// Serves pairs without revealing which side is which.
pub struct PairsDesk {
    pairs: Pairs,
    images: Images,
    source: String,
    name: String,
}

/// A preference as the page sends it.
#[derive(Deserialize)]
struct Prefer {
    place: usize,
    name: String,
    choice: Choice,
    #[serde(default)]
    note: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Choice {
    Left,
    Right,
    Tie,
}

impl PairsDesk {
    /// Creates the desk; the page shows `source` as the origin of the pairs.
    #[must_use]
    pub fn new(pairs: Pairs, images: Images, source: &str, name: &str) -> Self {
        Self { pairs, images, source: visible(source, false).into_owned(), name: name.to_owned() }
    }

    /// A person's choice for each pair, in the order of the pairs on the page.
    fn list(&self, name: &str) -> Value {
        let newest = self.pairs.newest();
        let chosen = |index: usize| {
            let preference = newest.get(&(index, name))?;
            Some(match preference.preferred {
                None => Choice::Tie,
                Some(version) if version == on_the_left(&preference.id, name) => Choice::Left,
                Some(_) => Choice::Right,
            })
        };
        let chosen: Vec<Option<Choice>> = self.pairs.order(name).into_iter().map(chosen).collect();
        json!({ "chosen": chosen })
    }

    fn pair(&self, place: usize, name: &str) -> Option<Value> {
        let index = *self.pairs.order(name).get(place)?;
        let [original, reconstructed] = self.pairs.list.get(index)?;
        // Results that only one side has would reveal which side it is.
        let has_results =
            [original, reconstructed].iter().all(|side| side.calls().any(|(_, call)| call.result.is_some()));
        let sides = match on_the_left(&original.id, name) {
            Version::Original => [original, reconstructed],
            Version::Reconstructed => [reconstructed, original],
        };
        let [left, right] = sides.map(|side| steps(side, has_results));
        let newest = self.pairs.newest();
        let reply =
            original.final_reply.as_deref().filter(|_| original.final_reply == reconstructed.final_reply);
        Some(json!({
            "index": index,
            "question": original.question.as_deref().or(reconstructed.question.as_deref()).map(passage),
            // Only the image of the reference: a prediction could otherwise choose which of the reader's files to show.
            "image": reconstructed.image.as_deref().map(|path| shortened(path, 300)),
            "reply": reply.map(passage),
            "left": left,
            "right": right,
            "note": newest.get(&(index, name)).map(|preference| &preference.note),
        }))
    }

    fn prefer(&mut self, request: &Request<'_>) -> Result<Response, Response> {
        let sent: Prefer = sent(request)?;
        let name = person(&sent.name).map_err(not_kept)?;
        let note = checked_note(&sent.note).map_err(not_kept)?;
        let index = *self.pairs.order(&name).get(sent.place).ok_or_else(Response::not_found)?;
        let left = on_the_left(&self.pairs.list[index][0].id, &name);
        let right = if left == Version::Original { Version::Reconstructed } else { Version::Original };
        let preferred = match sent.choice {
            Choice::Left => Some(left),
            Choice::Right => Some(right),
            Choice::Tie => None,
        };
        self.pairs.prefer(index, &name, preferred, note).map_err(failed)?;
        Ok(Response::json(&self.list(&name)))
    }

    /// The counts of a person's preferences and of all people's. They are shown once the person has chosen for all pairs,
    /// so that they cannot influence the choices.
    fn end(&self, name: &str) -> Response {
        let chosen = self.list(name);
        let is_done =
            chosen["chosen"].as_array().is_some_and(|chosen| chosen.iter().all(|one| !one.is_null()));
        if !is_done {
            return Response::error(409, "there are pairs left: the summary comes when all are done");
        }
        let summary = self.pairs.summary();
        let counts = |counts: Counts| {
            json!({
                "reconstructed": counts.reconstructed, "original": counts.original, "ties": counts.ties,
                "share": counts.share(), "interval": counts.interval(),
            })
        };
        let own = summary.people.get(name).copied().unwrap_or_default();
        Response::json(&json!({
            "pairs": summary.pairs, "people": summary.people.len(), "own": counts(own), "all": counts(summary.all),
        }))
    }
}

/// The calls of a side, by step: only tools, arguments and, if both sides have them, results.
fn steps(side: &Trajectory, has_results: bool) -> Vec<Vec<Value>> {
    let call = |call: &Call| {
        let arguments = call
            .arguments
            .as_ref()
            .map_or_else(|| "{}".to_owned(), |found: &Json| found.to_text(Keys::AsRead));
        json!({
            "tool": shortened(&call.tool, 200),
            "arguments": json_without_hidden(head(&arguments, LONGEST_ARGUMENTS)),
            "result": call.result.as_ref().filter(|_| has_results).map(shown),
        })
    };
    side.steps.iter().map(|step| step.calls.iter().map(call).collect()).collect()
}

impl HandlerMut for PairsDesk {
    fn page(&self) -> Page {
        page(Mode::Pairs, &self.source, &self.name)
    }

    fn answer(&mut self, request: &Request<'_>) -> Response {
        if let Some(index) = request.path.strip_prefix("image/") {
            let pair = index.parse().ok().and_then(|index: usize| self.pairs.list.get(index));
            let path = pair.and_then(|[_, reconstructed]| reconstructed.image.clone());
            return image(path.map(ImageSource::File), &self.images, ImageSize::Whole);
        }
        if let Err(error) = self.pairs.refresh() {
            return failed(error);
        }
        if request.is_post {
            return match request.path {
                "api/prefer" => self.prefer(request).unwrap_or_else(|refused| refused),
                _ => Response::not_found(),
            };
        }
        let name = match name_of(request) {
            Ok(name) => name,
            Err(refused) => return refused,
        };
        match request.path {
            "api/pairs" => Response::json(&self.list(&name)),
            "api/pair" => {
                let pair = request.number("place").and_then(|place| self.pair(place, &name));
                pair.map_or_else(Response::not_found, |pair| Response::json(&pair))
            }
            "api/end" => self.end(&name),
            _ => Response::not_found(),
        }
    }
}

#[cfg(test)]
mod tests;
