//! Which predicted call each matched reference call is compared with.
//!
//! The paper's alignment decides which reference calls are matched. Where the cosine hardly distinguishes the predicted
//! calls, or where calls use different files, the calls that ask for the same are compared with each other: the pairing
//! of a tool's matched calls with the largest sum of fidelities, where pairs that ask for exactly the same stay
//! together. The files that a call uses depend on which calls are paired, so both are computed in turns until nothing
//! changes.

mod open_bucket;
mod parts;

use std::collections::{BTreeMap, HashMap, HashSet};

use m3_embedding::{Embedder, EncoderError};
use open_bucket::{AlignedPair, OpenBucket};

use super::chunk::{Chunk, PreparedPair};
use super::fidelity::constants::EQUIVALENT;
use super::fidelity::{CallFidelity, CallPair, Fidelity};
use super::flow::{Counterparts, RewriteContext, RewrittenPair};
use super::matching::{Match, Matching};
use super::{ScoreOptions, Similarity, buckets};

/// The most turns of pairing. A chain of calls settles after as many turns as it has branches that look alike.
const MOST_TURNS: usize = 4;

/// The index of a trajectory in the chunk, and those of a reference call and the predicted call it is compared with.
pub(super) type ComparedCalls = (usize, usize, usize);

/// For each trajectory of a chunk: for each predicted call the reference call it is paired with.
pub(super) type Pairings = Vec<Vec<Option<usize>>>;

/// The calls that are compared, and their comparisons: trajectory by trajectory, first the pairs of matched reference
/// calls in the order of the matches, then those of unmatched reference calls.
pub(super) struct PairedCalls {
    pub(super) calls: Vec<ComparedCalls>,
    /// The comparison of each pair: how far its calls ask for the same.
    pub(super) fidelities: Vec<CallFidelity>,
    /// For each pair, the extra calls that ask for the rest of a list of the reference call.
    pub(super) joined: Vec<Vec<usize>>,
    pub(super) pairings: Pairings,
}

impl PairedCalls {
    fn new(calls: Vec<ComparedCalls>, fidelities: Vec<CallFidelity>, pairings: Pairings) -> Self {
        let joined = vec![Vec::new(); calls.len()];
        Self { calls, fidelities, joined, pairings }
    }
}

/// Compares calls of a chunk.
pub(super) struct Comparer<'r, 'a> {
    pub(super) chunk: &'r Chunk,
    pub(super) fidelity: &'r mut Fidelity<'a>,
    /// The comparison by spelling alone, which chooses the pairs.
    pub(super) spelling: &'r mut Fidelity<'a>,
    pub(super) options: &'r ScoreOptions<'a>,
    pub(super) embedder: &'r mut Embedder,
}

impl Comparer<'_, '_> {
    /// Chooses the pairs of calls whose arguments are compared, and compares them. The pairs are those of each
    /// alignment, except where calls are paired anew by their arguments. Extra calls that ask for the rest of a list
    /// are added.
    ///
    /// # Errors
    /// [`EncoderError`] if words of arguments cannot be encoded.
    pub(super) fn pair(&mut self, matchings: &[Matching]) -> Result<PairedCalls, EncoderError> {
        let mut paired = self.pair_one_to_one(matchings)?;
        if self.options.similarity != Similarity::Typed {
            self.join_parts(&mut paired)?;
        }
        Ok(paired)
    }

    fn pair_one_to_one(&mut self, matchings: &[Matching]) -> Result<PairedCalls, EncoderError> {
        let aligned = |(prepared, matching): (&PreparedPair, &Matching)| {
            let mut paired = vec![None; prepared.predictions.calls.len()];
            for pair in &matching.matches {
                paired[pair.predicted.index] = Some(pair.reference.index);
            }
            paired
        };
        let mut pairings: Pairings = self.chunk.items.iter().zip(matchings).map(aligned).collect();
        let pairs: Vec<ComparedCalls> = compared_calls(matchings, &pairings).collect();
        let fidelities = self.compare(&pairs, &pairings)?;
        if self.options.similarity == Similarity::Typed {
            return Ok(PairedCalls::new(pairs, fidelities, pairings));
        }
        let known: HashMap<ComparedCalls, CallFidelity> = pairs.into_iter().zip(fidelities).collect();
        let mut open = self.open_buckets(matchings, &known);
        let aligned = pairings.clone();
        self.settle(&mut open, &mut pairings)?;
        let pairs: Vec<ComparedCalls> = compared_calls(matchings, &pairings).collect();
        // Another pairing changes a comparison only where its calls name files that calls make: what such a name stands for
        // depends on which calls are paired.
        let is_unchanged: Vec<bool> =
            pairings.iter().zip(&aligned).map(|(pairing, aligned)| pairing == aligned).collect();
        let depends_on_pairing = |&(item, reference, predicted): &ComparedCalls| {
            let flow = self.chunk.items[item].flow.as_ref();
            flow.is_some_and(|flow| flow.names_made_files([Some(reference), Some(predicted)]))
        };
        let is_settled = |pair: &ComparedCalls| {
            known.contains_key(pair) && (is_unchanged[pair.0] || !depends_on_pairing(pair))
        };
        let rest: Vec<ComparedCalls> = pairs.iter().copied().filter(|pair| !is_settled(pair)).collect();
        let mut compared = self.compare(&rest, &pairings)?.into_iter();
        let mut known = known;
        let mut rest = rest.into_iter().peekable();
        let fidelity = |pair: &ComparedCalls| match rest.next_if_eq(pair) {
            Some(_) => compared.next(),
            None => known.remove(pair),
        };
        let fidelities = pairs.iter().filter_map(fidelity).collect();
        Ok(PairedCalls::new(pairs, fidelities, pairings))
    }

    /// Pairs the calls of open buckets by what they ask for, in turns.
    fn settle(&mut self, open: &mut Vec<OpenBucket>, pairings: &mut Pairings) -> Result<(), EncoderError> {
        for turn in 0..MOST_TURNS {
            if open.is_empty() {
                break;
            }
            let pairs: Vec<ComparedCalls> = open.iter().flat_map(OpenBucket::pairs).collect();
            let known = (turn > 0).then_some(&*pairings);
            let mut scores = self.compare_by_spelling(&pairs, known)?.into_iter();
            let mut changed = vec![turn == 0; self.chunk.items.len()];
            for bucket in &*open {
                let best = bucket.assign(self.chunk, &mut scores);
                changed[bucket.item] |= bucket.settle(&best, &mut pairings[bucket.item]);
            }
            open.retain(|bucket| changed[bucket.item] && bucket.calls.names_files);
        }
        Ok(())
    }

    /// The tools with an open pairing: a matched call may ask for the same as another call than its partner. A
    /// trajectory has none where all its matched calls ask for the same as their partners, unless it has files in play
    /// and unmatched calls on both sides.
    fn open_buckets(
        &self,
        matchings: &[Matching],
        known: &HashMap<ComparedCalls, CallFidelity>,
    ) -> Vec<OpenBucket> {
        let mut open = Vec::new();
        for (item, (prepared, matching)) in self.chunk.items.iter().zip(matchings).enumerate() {
            let fidelity = |pair: &Match| {
                known
                    .get(&(item, pair.reference.index, pair.predicted.index))
                    .map_or(0.0, |known| known.score)
            };
            let is_wrong = |pair: &&Match| fidelity(pair) < EQUIVALENT;
            let wrong: HashSet<&str> =
                matching.matches.iter().filter(is_wrong).map(|pair| &*pair.tool).collect();
            let has_unmatched =
                !matching.unmatched_references.is_empty() && !matching.unmatched_predictions.is_empty();
            if wrong.is_empty() && !(prepared.flow.is_some() && has_unmatched) {
                continue;
            }
            let matched: HashMap<usize, AlignedPair<'_>> = matching
                .matches
                .iter()
                .map(|pair| (pair.reference.index, AlignedPair { pair, fidelity: fidelity(pair) }))
                .collect();
            let tools = buckets(prepared.references.calls.tools(), prepared.predictions.calls.tools());
            open.extend(tools.into_iter().filter_map(|bucket| {
                OpenBucket::new((item, prepared), bucket, (&matched, &wrong), self.embedder)
            }));
        }
        open
    }

    /// Compares the arguments of pairs of calls, as they are rewritten under these pairings.
    fn compare(
        &mut self,
        pairs: &[ComparedCalls],
        pairings: &Pairings,
    ) -> Result<Vec<CallFidelity>, EncoderError> {
        let rewritten = self.rewrite_all(pairs, Some(pairings));
        compare_all(self.fidelity, (self.chunk, pairs, &rewritten), self.embedder)
    }

    /// Compares pairs of calls by the spelling of words alone; the scores are in [0, 1]. Without pairings, everything
    /// that any call made counts as the same.
    fn compare_by_spelling(
        &mut self,
        pairs: &[ComparedCalls],
        pairings: Option<&Pairings>,
    ) -> Result<Vec<f64>, EncoderError> {
        let rewritten = self.rewrite_all(pairs, pairings);
        let compared = compare_all(self.spelling, (self.chunk, pairs, &rewritten), self.embedder)?;
        Ok(compared.iter().map(|fidelity| fidelity.score).collect())
    }

    /// Rewrites the arguments of pairs of calls for their comparison; `None` where they stay as they are.
    fn rewrite_all(
        &self,
        pairs: &[ComparedCalls],
        pairings: Option<&Pairings>,
    ) -> Vec<Option<RewrittenPair>> {
        let mut files: HashMap<usize, HashMap<usize, usize>> = HashMap::new();
        for pair in pairs {
            if let Some((flow, pairings)) = self.chunk.items[pair.0].flow.as_ref().zip(pairings) {
                files.entry(pair.0).or_insert_with(|| flow.pair_files(&pairings[pair.0]));
            }
        }
        let pairing = |item: usize| match (pairings, files.get(&item)) {
            (Some(pairings), Some(files)) => Counterparts::Known { calls: &pairings[item], files },
            _ => Counterparts::Unknown,
        };
        pairs.iter().map(|pair| self.rewrite(*pair, pairing(pair.0))).collect()
    }

    /// Rewrites the arguments of two calls as they were compared under the final pairings.
    pub(super) fn rewrite_under(&self, pair: ComparedCalls, pairings: &Pairings) -> Option<RewrittenPair> {
        let calls = &pairings[pair.0];
        let files = self.chunk.items[pair.0].flow.as_ref()?.pair_files(calls);
        self.rewrite(pair, Counterparts::Known { calls, files: &files })
    }

    fn rewrite(
        &self,
        (item, reference, predicted): ComparedCalls,
        pairing: Counterparts<'_>,
    ) -> Option<RewrittenPair> {
        let prepared = &self.chunk.items[item];
        let flow = prepared.flow.as_ref()?;
        let (a, b) = (&prepared.references.arguments[reference], &prepared.predictions.arguments[predicted]);
        let tool = prepared.references.calls.tool(reference);
        let required = |name: &str| self.options.is_required(tool, name);
        let calls = (&prepared.references.calls, &prepared.predictions.calls);
        let context = RewriteContext { calls, pairing, is_required: &required };
        flow.rewrite((reference, predicted), (a.as_ref()?, b.as_ref()?), &context)
    }
}

/// Compares pairs of calls of a chunk, by their rewritten arguments where there are any.
fn compare_all(
    fidelity: &mut Fidelity<'_>,
    (chunk, pairs, rewritten): (&Chunk, &[ComparedCalls], &[Option<RewrittenPair>]),
    embedder: &mut Embedder,
) -> Result<Vec<CallFidelity>, EncoderError> {
    let pair = |index: usize| pair_of(&chunk.items, pairs[index], rewritten[index].as_ref());
    let mut compared: Vec<Option<CallFidelity>> = vec![None; pairs.len()];
    fidelity.compare_all(pairs.len(), &pair, embedder, &mut |_, _| (), &mut |index, fidelity| {
        compared[index] = Some(fidelity);
    })?;
    let explained =
        compared.into_iter().flatten().zip(rewritten).map(|(fidelity, rewritten)| match rewritten {
            Some(rewritten) => rewritten.explain(fidelity),
            None => fidelity,
        });
    Ok(explained.collect())
}

/// The calls whose arguments are compared, trajectory by trajectory: those of matches in their order, then those of unmatched
/// reference calls.
fn compared_calls<'m>(
    matchings: &'m [Matching],
    pairings: &'m Pairings,
) -> impl Iterator<Item = ComparedCalls> + 'm {
    matchings.iter().zip(pairings).enumerate().flat_map(|(item, (matching, pairing))| {
        let by_reference: BTreeMap<usize, usize> =
            pairing.iter().enumerate().filter_map(|(call, found)| Some(((*found)?, call))).collect();
        let matched = matching.matches.iter().map(|pair| pair.reference.index);
        let unmatched = matching.unmatched_references.iter().map(|alone| alone.place.index);
        let pair = move |reference: usize| Some((item, reference, *by_reference.get(&reference)?));
        matched.chain(unmatched).filter_map(pair).collect::<Vec<_>>()
    })
}

/// A pair of calls with the arguments that are compared: the rewritten ones if there are any.
pub(super) fn pair_of<'c>(
    items: &'c [PreparedPair],
    (item, reference, predicted): ComparedCalls,
    rewritten: Option<&'c RewrittenPair>,
) -> CallPair<'c> {
    let prepared = &items[item];
    let pair = prepared.pair(prepared.references.calls.tool(reference), reference, predicted);
    match rewritten {
        Some(rewritten) => CallPair { a: Some(&rewritten.reference), b: Some(&rewritten.predicted), ..pair },
        None => pair,
    }
}
