//! The similarity of labelled pairs of calls, as computed for scores.

use std::collections::HashMap;

use m3_embedding::{Embedder, EncoderError, InputKey, cosine};
use m3_score::Serializer;

use super::pairs::LabelledArguments;

/// The similarity of each pair, in [-1, 1]: the cosine of the embeddings of the two serialized arguments.
///
/// # Errors
/// [`EncoderError`].
pub(crate) fn similarities(
    pairs: &[LabelledArguments],
    serializer: &Serializer<'_>,
    embedder: &mut Embedder,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<f64>, EncoderError> {
    let text = |pair: &LabelledArguments, arguments| serializer.text(&pair.tool, Some(arguments));
    let texts: Vec<String> =
        pairs.iter().flat_map(|pair| [text(pair, &pair.reference), text(pair, &pair.predicted)]).collect();
    cosines(&texts, embedder, progress)
}

/// The cosine of each two consecutive texts, in [-1, 1]; 1 only if the encoder cannot distinguish them.
///
/// # Errors
/// [`EncoderError`].
pub(super) fn cosines(
    texts: &[String],
    embedder: &mut Embedder,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<f64>, EncoderError> {
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let inputs = embedder.inputs(&borrowed)?;
    let wanted: HashMap<InputKey, &str> = inputs.iter().copied().zip(borrowed).collect();
    let wanted: Vec<(InputKey, &str)> = wanted.into_iter().collect();
    embedder.embed(&wanted, progress)?;
    let embedder = &*embedder;
    let similarity = |pair: &[InputKey]| {
        // As in the alignment: only texts that the encoder cannot distinguish have similarity 1.
        if pair[0] == pair[1] {
            return 1.0;
        }
        cosine(embedder.vector(&pair[0]), embedder.vector(&pair[1])).min(1.0 - f64::EPSILON)
    };
    Ok(inputs.chunks_exact(2).map(similarity).collect())
}
