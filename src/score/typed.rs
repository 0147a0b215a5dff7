//! Alignment by fidelity: every reference call is compared with every predicted call of its tool, argument by argument.

use super::chunk::{Chunk, Prepared};
use super::fidelity::Fidelity;
use super::matching::{BucketTooLarge, Matching, align, check_sizes};
use super::{ScoreError, ScoreOptions, buckets};
use crate::encoder::{Embedder, text_key};

/// Where the fidelities of a trajectory's calls are among those of the chunk: that of a reference call and a predicted
/// call of its tool is at `rows[reference] + columns[predicted]`.
struct Table {
    rows: Vec<usize>,
    columns: Vec<usize>,
}

/// Two calls that are compared: a trajectory's index, a reference call's and a predicted call's.
type Compared = (usize, usize, usize);

/// Aligns each trajectory of a chunk.
///
/// # Errors
/// A trajectory's id and its bucket that is too large; those of the encoder, for the words of arguments.
pub(super) fn align_by_fidelity(
    chunk: &mut Chunk,
    fidelity: &mut Fidelity<'_>,
    options: &ScoreOptions<'_>,
    embedder: &mut Embedder,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Matching>, ScoreError> {
    let keys: Vec<_> = chunk.texts.iter().map(|text| text_key(text)).collect();
    let (mut pairs, mut tables) = (Vec::new(), Vec::new());
    for (item, prepared) in chunk.items.iter_mut().enumerate() {
        prepared.references.know(&keys);
        prepared.predictions.know(&keys);
        tables.push(table(item, prepared, &mut pairs).map_err(|bucket| bucket.of(&prepared.id))?);
    }
    let items = &chunk.items;
    let mut fidelities = vec![0.0; pairs.len()];
    let pair = |index: usize| {
        let (item, reference, predicted) = pairs[index];
        items[item].pair(items[item].references.calls.tool(reference), reference, predicted)
    };
    fidelity.compare_all(pairs.len(), &pair, embedder, progress, &mut |index, found| {
        fidelities[index] = found.score;
    })?;
    let aligned = items.iter().zip(&tables).map(|(Prepared { id, references, predictions, .. }, table)| {
        let similarity =
            |reference: usize, predicted: usize| fidelities[table.rows[reference] + table.columns[predicted]];
        align(
            &references.calls,
            &predictions.calls,
            options.thresholds,
            options.keeps_similarities,
            &similarity,
        )
        .map_err(|bucket| bucket.of(id))
    });
    aligned.collect()
}

/// Lists the calls of a trajectory that are compared, after those of the trajectories before it.
fn table(item: usize, prepared: &Prepared, pairs: &mut Vec<Compared>) -> Result<Table, BucketTooLarge> {
    let (references, predictions) = (&prepared.references.calls, &prepared.predictions.calls);
    check_sizes(references, predictions)?;
    let mut table = Table { rows: vec![0; references.len()], columns: vec![0; predictions.len()] };
    for bucket in buckets(references.tools(), predictions.tools()) {
        for (column, &predicted) in bucket.predictions.iter().enumerate() {
            table.columns[predicted] = column;
        }
        for &reference in &bucket.references {
            table.rows[reference] = pairs.len();
            pairs.extend(bucket.predictions.iter().map(|&predicted| (item, reference, predicted)));
        }
    }
    Ok(table)
}
