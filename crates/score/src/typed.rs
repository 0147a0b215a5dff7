//! Alignment by fidelity: every reference call is compared with every predicted call of its tool, argument by
//! argument; of equal calls only the first is compared, for all of them.

use m3_embedding::{Embedder, EncoderError, text_key};

use super::chunk::{Chunk, PreparedPair};
use super::fidelity::Fidelity;
use super::matching::{Matching, align, check_sizes};
use super::transport::TooLarge;
use super::{ScoreOptions, buckets};

/// The places of a trajectory's fidelities among those of the chunk. The fidelity of a reference call and a predicted
/// call of the same tool is at `rows[reference] + columns[predicted]`; equal calls share the place of the first of
/// them.
struct Table {
    rows: Vec<usize>,
    columns: Vec<usize>,
}

/// Two calls to compare: the index of a trajectory, of a reference call and of a predicted call.
type CallPairIndex = (usize, usize, usize);

/// Aligns each trajectory of a chunk.
///
/// # Errors
/// [`EncoderError`] if the encoder fails on words of arguments.
pub(super) fn align_by_fidelity(
    chunk: &mut Chunk,
    fidelity: &mut Fidelity<'_>,
    options: &ScoreOptions<'_>,
    embedder: &mut Embedder,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Result<Matching, TooLarge>>, EncoderError> {
    let keys: Vec<_> = chunk.texts.iter().map(|text| text_key(text)).collect();
    let (mut pairs, mut tables) = (Vec::new(), Vec::new());
    for (item, prepared) in chunk.items.iter_mut().enumerate() {
        prepared.references.know(&keys);
        prepared.predictions.know(&keys);
        tables.push(table(item, prepared, &mut pairs));
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
    let aligned = items.iter().zip(&tables).map(|(PreparedPair { references, predictions, .. }, table)| {
        let similarity =
            |reference: usize, predicted: usize| fidelities[table.rows[reference] + table.columns[predicted]];
        align(
            &references.calls,
            &predictions.calls,
            options.thresholds,
            options.keeps_similarities,
            &similarity,
        )
    });
    Ok(aligned.collect())
}

/// Lists the pairs of calls of a trajectory that are to be compared, after those of earlier trajectories; none if it
/// is too large.
fn table(item: usize, prepared: &PreparedPair, pairs: &mut Vec<CallPairIndex>) -> Table {
    let (references, predictions) = (&prepared.references.calls, &prepared.predictions.calls);
    let mut table = Table { rows: vec![0; references.len()], columns: vec![0; predictions.len()] };
    if check_sizes(references, predictions).is_err() {
        return table;
    }
    for bucket in buckets(references.tools(), predictions.tools()) {
        let predicted = predictions.classes(&bucket.predictions).first;
        for (column, &predicted) in predicted.iter().enumerate() {
            table.columns[predicted] = column;
        }
        for reference in references.classes(&bucket.references).first {
            table.rows[reference] = pairs.len();
            pairs.extend(predicted.iter().map(|&predicted| (item, reference, predicted)));
        }
    }
    table
}
