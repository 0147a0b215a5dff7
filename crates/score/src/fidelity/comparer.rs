//! Compares pairs of calls, many at once.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use m3_embedding::{Embedder, EncoderError, InputKey};
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::{Json, is_same};

use super::align::{Alignment, ONLY_ONE, ORDERS_OR_NARROWS};
use super::comparison_cache::{question_key, schema_key};
use super::constants::{CLOSE, ORDERED_OR_ABSENT, SAME_OTHERWISE, TOO_LONG};
use super::evidence::{self, Context, Evidence, Question};
use super::model::{BUILT_IN_DIGEST, Model};
use super::readers::{ANOTHER_ID, NO_ID};
use super::words::{Cosines, TextPair, Words};
use super::{ArgumentComparison, CallFidelity, CallPair, Finding, Kind, Regions, Verdict, comparison_cache};
use crate::schema::Schema;

/// Pairs of calls that are compared, by their index.
type Pairs<'p, 'c> = dyn Fn(usize) -> CallPair<'c> + Sync + 'p;

/// Compares arguments. Deterministic: the same calls, catalog and embeddings give the same numbers, whatever is compared
/// beside them and on however many cores.
///
/// Scores come from [`Fidelity::compare_all`]. [`Fidelity::compare`] knows only the spelling of words and the lexicon.
///
/// ```
/// use m3_score::fidelity::{CallPair, Fidelity, Verdict};
/// use m3_trajectory::json::parse;
///
/// let json = |text: &str| parse(text.as_bytes()).unwrap().0;
/// let fidelity = Fidelity::new(None);
/// let (a, b) = (json(r#"{"lat": 52.08, "lng": 4.31}"#), json(r#"{"lat": 52.08, "lng": -4.31}"#));
/// let found = fidelity.compare(CallPair { tool: "air/conditions", a: Some(&a), b: Some(&b), question: None, schema: None });
/// assert!(found.score < 0.2);
/// assert_eq!(found.worst().unwrap().path, "/lng");
/// assert_eq!(found.worst().unwrap().verdict, Verdict::Different);
/// ```
#[derive(Debug, Default)]
pub struct Fidelity<'a> {
    catalog: Option<&'a Catalog>,
    cosines: Arc<Cosines>,
    /// `None` for the built-in model, which is slow to read and therefore read only when it is needed.
    model: Option<Arc<Model>>,
    /// Comparisons from the cache: calls are compared again where other calls of their trajectory get new partners.
    known: HashMap<InputKey, CallFidelity>,
    /// Whether words are compared by their spelling and the lexicon alone.
    is_by_spelling: bool,
    /// Whether the evidence is kept; the cache, which does not hold it, is then not used.
    keeps_evidence: bool,
}

/// The most pairs of calls that are compared together, with one lookup in the cache.
const PAIRS_AT_ONCE: usize = 4096;

/// The most pairs at once for which the cache is used, and the most comparisons that are kept in memory.
const MOST_KEPT: usize = 16_384;

/// The number of pairs of words after which they are looked up, before further calls are compared.
const WORDS_AT_ONCE: usize = 8192;

/// The number of pairs of calls that a thread takes at once, and that makes another thread worth its start.
const BLOCK: usize = 16;

/// The most threads: more would only wait for memory.
const MOST_THREADS: usize = 8;

/// The results of comparing some pairs, by their index.
#[derive(Debug, Default)]
struct ComparedPairs {
    found: Vec<(usize, CallFidelity)>,
    /// The pairs that need cosines of words that are not known yet.
    open: Vec<usize>,
    wanted: BTreeSet<TextPair>,
}

impl<'a> Fidelity<'a> {
    /// Creates a comparison. With a catalog, the tools' schemas tell kinds, defaults and required arguments.
    #[must_use]
    pub fn new(catalog: Option<&'a Catalog>) -> Self {
        Self { catalog, ..Self::default() }
    }

    /// Sets the model that scores; `None` is the one that m3 is built with.
    #[must_use]
    pub fn by_model(self, model: Option<Arc<Model>>) -> Self {
        Self { model, ..self }
    }

    /// Compares words by their spelling and the lexicon alone, which needs no encoder.
    #[must_use]
    pub fn by_spelling(self) -> Self {
        Self { is_by_spelling: true, ..self }
    }

    /// Also keeps the evidence that the scores are made from.
    #[must_use]
    pub fn with_evidence(self) -> Self {
        Self { keeps_evidence: true, ..self }
    }

    /// Compares `count` pairs and hands each to `found` with its index, in no particular order. Pairs that the
    /// embedder's cache knows are not compared again. Pairs whose words need embeddings are compared a second time,
    /// when their words are known. `progress` receives the number of pairs done, and `count`.
    ///
    /// # Errors
    /// [`EncoderError`] if words cannot be encoded.
    pub fn compare_all(
        &mut self,
        count: usize,
        pair: &Pairs<'_, '_>,
        embedder: &mut Embedder,
        progress: &mut dyn FnMut(usize, usize),
        found: &mut dyn FnMut(usize, CallFidelity),
    ) -> Result<(), EncoderError> {
        for start in (0..count).step_by(PAIRS_AT_ONCE) {
            let end = count.min(start + PAIRS_AT_ONCE);
            let (keys, todo) = self.recall((start..end, count), pair, embedder, found);
            let mut fresh = Vec::new();
            self.compare_new(
                &todo,
                pair,
                embedder,
                &mut |part| progress(end - todo.len() + part, count),
                &mut |index, fidelity| {
                    if let (Some(key), Some(bytes)) =
                        (keys[index - start], comparison_cache::encode(&fidelity))
                    {
                        fresh.push((key, bytes));
                    }
                    found(index, fidelity);
                },
            )?;
            embedder.remember(&fresh);
            progress(end, count);
        }
        Ok(())
    }

    /// Hands on the pairs that the cache knows. Returns the key of each pair, if there is a cache, and the pairs left.
    fn recall(
        &mut self,
        (range, count): (Range<usize>, usize),
        pair: &Pairs<'_, '_>,
        embedder: &mut Embedder,
        found: &mut dyn FnMut(usize, CallFidelity),
    ) -> (Vec<Option<InputKey>>, Vec<usize>) {
        let mut schemas: HashMap<&str, InputKey> = HashMap::new();
        // The pairs of very many calls are too many to keep, and most of them are compared only once.
        let is_cached = !self.keeps_evidence && embedder.has_cache() && count <= MOST_KEPT;
        let digest = self.model.as_ref().map_or(BUILT_IN_DIGEST, |model| model.digest());
        let model = format!("{digest}{}", if self.is_by_spelling { " by spelling" } else { "" });
        let mut question: (Option<&str>, InputKey) = (None, question_key(None));
        let is_equal = |pair: CallPair<'_>| pair.a.zip(pair.b).is_some_and(|(a, b)| is_same(a, b));
        let mut key = |index: usize| {
            let pair = pair(index);
            (is_cached && !is_equal(pair)).then(|| {
                let own = pair.schema.map(|schema| schema_key(Some(schema)));
                let schema = own.unwrap_or_else(|| {
                    *schemas.entry(pair.tool).or_insert_with(|| schema_key(self.schema(pair)))
                });
                // Pairs of one trajectory follow one another, and share the question.
                if !std::ptr::eq(question.0.unwrap_or_default(), pair.question.unwrap_or_default()) {
                    question = (pair.question, question_key(pair.question));
                }
                comparison_cache::key(pair, &schema, &question.1, &model)
            })
        };
        let keys: Vec<Option<InputKey>> = range.clone().map(&mut key).collect();
        if self.known.len() > MOST_KEPT {
            self.known.clear();
        }
        let is_new = |key: &InputKey| !self.known.contains_key(key);
        let asked: Vec<InputKey> = keys.iter().copied().flatten().filter(is_new).collect();
        let recalled = asked.iter().zip(embedder.recall(&asked));
        self.known
            .extend(recalled.filter_map(|(key, bytes)| Some((*key, comparison_cache::decode(&bytes?)?))));
        let mut todo = Vec::new();
        let words = self.words();
        for (index, key) in range.zip(&keys) {
            if let Some(fidelity) = key.and_then(|key| self.known.get(&key)) {
                found(index, fidelity.clone());
            } else if is_cached && key.is_none() {
                // Equal arguments are compared here: they are not worth the start of a thread.
                let fidelity = self.compare_by(pair(index), &words);
                if words.is_open() { todo.push(index) } else { found(index, fidelity) }
            } else {
                todo.push(index);
            }
        }
        (keys, todo)
    }

    /// Compares pairs that the cache does not know.
    fn compare_new(
        &mut self,
        todo: &[usize],
        pair: &Pairs<'_, '_>,
        embedder: &mut Embedder,
        progress: &mut dyn FnMut(usize),
        found: &mut dyn FnMut(usize, CallFidelity),
    ) -> Result<(), EncoderError> {
        let mut done = 0;
        while done < todo.len() {
            self.cosines().forget();
            let rest = &todo[done..];
            let (mut compared, reached) = self.compare_some(rest.len(), &|at| pair(rest[at]));
            compared.found.drain(..).for_each(|(at, fidelity)| found(rest[at], fidelity));
            let mut open: Vec<usize> = compared.open.iter().map(|&at| rest[at]).collect();
            while !open.is_empty() {
                let (closed, all) = (done + reached - open.len(), open.len());
                let wanted = std::mem::take(&mut compared.wanted);
                self.cosines()
                    .learn(wanted, embedder, &mut |part, of| progress(closed + all * part / of.max(1)))?;
                let reached;
                (compared, reached) = self.compare_some(all, &|at| pair(open[at]));
                compared.found.drain(..).for_each(|(at, fidelity)| found(open[at], fidelity));
                // What one word means may decide whether another one is asked for.
                open =
                    compared.open.iter().map(|&at| open[at]).chain(open[reached..].iter().copied()).collect();
            }
            done += reached;
            progress(done);
        }
        Ok(())
    }

    /// The schema of a pair's arguments.
    fn schema<'c>(&self, pair: CallPair<'c>) -> Option<&'c Json>
    where
        'a: 'c,
    {
        pair.schema.or_else(|| self.catalog.and_then(|catalog| catalog.input_schema(pair.tool)))
    }

    /// Creates what one thread uses to compare words.
    fn words(&self) -> Words {
        if self.is_by_spelling { Words::default() } else { Words::with_cosines(&self.cosines) }
    }

    /// The known cosines of words. No thread holds them between comparisons.
    fn cosines(&mut self) -> &mut Cosines {
        Arc::make_mut(&mut self.cosines)
    }

    /// Compares the first of `count` pairs, on as many threads as are worth it, and returns how many these were: all,
    /// unless they need so many words that those should be looked up first.
    fn compare_some(&self, count: usize, pair: &Pairs<'_, '_>) -> (ComparedPairs, usize) {
        let (next, wanted) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            let words = self.words();
            let mut compared = ComparedPairs::default();
            while wanted.load(Ordering::Relaxed) < WORDS_AT_ONCE {
                let start = next.fetch_add(BLOCK, Ordering::Relaxed);
                if start >= count {
                    break;
                }
                let before = words.wanted();
                for index in start..count.min(start + BLOCK) {
                    let fidelity = self.compare_by(pair(index), &words);
                    if words.is_open() {
                        compared.open.push(index);
                    } else {
                        compared.found.push((index, fidelity));
                    }
                }
                wanted.fetch_add(words.wanted() - before, Ordering::Relaxed);
            }
            compared.wanted = words.take_wanted();
            compared
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let helpers = cores.min(MOST_THREADS).min(count.div_ceil(BLOCK)).saturating_sub(1);
        let compared = thread::scope(|scope| {
            // If the system has no thread left, fewer threads do the work.
            let helper = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
            let helpers: Vec<_> = (0..helpers).filter_map(helper).collect();
            let mut compared = work();
            for helper in helpers {
                // A thread fails only because of a bug; its panic is passed on.
                let other = helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                compared.found.extend(other.found);
                compared.open.extend(other.open);
                compared.wanted.extend(other.wanted);
            }
            compared
        });
        (compared, next.into_inner().min(count))
    }

    /// Compares one pair.
    #[must_use]
    pub fn compare(&self, pair: CallPair<'_>) -> CallFidelity {
        self.compare_by(pair, &Words::default())
    }

    fn compare_by(&self, pair: CallPair<'_>, words: &Words) -> CallFidelity {
        words.begin();
        let none = Json::Object(Vec::new());
        let (a, b) = (pair.a.unwrap_or(&none), pair.b.unwrap_or(&none));
        let schema = self.schema(pair).map(Schema::new);
        let mut arguments = Alignment::compare(schema, words, pair.tool, a, b);
        // Only equal arguments score 1, whatever the rules made of their values.
        if arguments.iter().all(|argument| argument.score >= 1.0) && !is_same(a, b) {
            let finding = Finding::new(Kind::Object, SAME_OTHERWISE, "the same in another writing");
            arguments.push(finding.at(""));
        }
        // Most calls are equal, and need no question.
        let is_equal = arguments.iter().all(|argument| argument.verdict == Verdict::Equal);
        let question = pair.question.filter(|_| !is_equal).map(Question::new);
        let pair = CallPair { a: Some(a), b: Some(b), ..pair };
        let context = Context { words, pair, schema, question: question.as_ref() };
        // Files that calls made, contacts and ids are settled by rules, without the model.
        let is_known = |argument: &ArgumentComparison| {
            matches!(argument.kind, Kind::Made | Kind::Written | Kind::Contact)
                || [ANOTHER_ID, NO_ID].contains(&&*argument.reason)
        };
        // Equal calls do not need the model, which takes time to be read.
        let mut model: Option<Arc<Model>> = None;
        let (mut all, mut settled, mut judged) = (Vec::new(), 1.0_f64, HashMap::new());
        for argument in arguments.iter_mut().filter(|argument| argument.verdict != Verdict::Equal) {
            let by_rule = argument.score;
            let is_settled = is_known(argument) || {
                let evidence = evidence::evidence(&context, argument);
                let changes_answer = argument.reason == ORDERS_OR_NARROWS && !evidence.is_asked_extra();
                let model = model.get_or_insert_with(|| self.model.clone().unwrap_or_else(Model::built_in));
                // Hundreds of items that a list lacks have the same evidence.
                let probability =
                    *judged.entry(evidence.bits()).or_insert_with(|| model.probability(&evidence));
                judge(argument, &evidence, probability, changes_answer);
                if self.keeps_evidence && !changes_answer {
                    all.push(evidence);
                }
                changes_answer
            };
            if self.keeps_evidence && is_settled {
                settled = settled.min(by_rule);
            }
        }
        let mut regions = Regions::new(pair, schema);
        regions.limit(&mut arguments);
        CallFidelity { evidence: all, settled, ..CallFidelity::new(arguments, regions) }
    }
}

/// Sets the score, verdict and reason of an argument that differs, by the model's probability. An argument that orders,
/// counts or narrows the request gets at most `ORDERED_OR_ABSENT`.
fn judge(argument: &mut ArgumentComparison, evidence: &Evidence, probability: f64, changes_answer: bool) {
    // Only equal values score 1, and a value that was not read to its end is not accepted.
    let most = if evidence.is_cut { TOO_LONG } else { SAME_OTHERWISE };
    let weight = if changes_answer { ORDERED_OR_ABSENT } else { 1.0 };
    // A model with absurd numbers may give NaN, which accepts nothing.
    argument.score = if probability.is_nan() { 0.0 } else { weight * probability.min(most) };
    argument.verdict = argument.verdict.by_score(argument.score);
    if argument.reason == ONLY_ONE || argument.reason == ORDERS_OR_NARROWS && !changes_answer {
        argument.reason = Cow::Borrowed(one_sided_reason(argument.verdict, argument.score >= CLOSE));
    }
}

/// Why an argument that one call lacks is accepted, or is not.
fn one_sided_reason(verdict: Verdict, is_accepted: bool) -> &'static str {
    match (verdict, is_accepted) {
        (Verdict::Extra, true) => "extra argument; it does not narrow the request",
        (Verdict::Extra, false) => "extra argument; it may narrow the request",
        (_, true) => "missing argument; the request does not need it",
        (_, false) => "missing argument; it may be required",
    }
}
