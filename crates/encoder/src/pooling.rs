//! Turns the output of a graph into one vector for each text.

use ndarray::{Array2, Axis, Ix2, Ix3};
use ort::session::SessionOutputs;

use super::OnnxError;

/// How the vectors of a text's tokens become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    /// The mean of the vectors.
    Mean,
    /// The vector of the first token, `[CLS]`.
    Cls,
}

/// The outputs that hold embeddings, pooled ones first: sentence-transformers' names and transformers'.
const OUTPUTS: [&str; 4] = ["sentence_embedding", "text_embeds", "last_hidden_state", "token_embeddings"];

/// An embedding for each text of a batch, [texts, dimensions]. All texts have the same number of tokens, so that none
/// of them is padding. An output with another name is used if it is the only one.
///
/// # Errors
/// [`OnnxError::Graph`] if no output is known, or its shape is neither [texts, dimensions] nor [texts, tokens,
/// dimensions].
pub(super) fn pooled(outputs: &SessionOutputs<'_>, pooling: Pooling) -> Result<Array2<f32>, OnnxError> {
    let known = OUTPUTS.iter().find_map(|name| outputs.iter().find(|(output, _)| output == name));
    let Some((_, output)) = known.or_else(|| outputs.iter().next().filter(|_| outputs.len() == 1)) else {
        let names: Vec<&str> = outputs.keys().collect();
        let names = names.join("`, `");
        return Err(OnnxError::Graph(format!("none of its outputs is known: `{names}`")));
    };
    let values = output.try_extract_array::<f32>().map_err(|cause| OnnxError::Graph(cause.to_string()))?;
    let shape = format!("{:?}", values.shape());
    let of_texts = match values.ndim() {
        2 => values.into_dimensionality::<Ix2>().map(|texts| Some(texts.into_owned())),
        _ => values.into_dimensionality::<Ix3>().map(|tokens| match pooling {
            Pooling::Mean => tokens.mean_axis(Axis(1)),
            Pooling::Cls => (tokens.len_of(Axis(1)) > 0).then(|| tokens.index_axis(Axis(1), 0).into_owned()),
        }),
    };
    of_texts.ok().flatten().ok_or_else(|| OnnxError::Graph(format!("its output has the shape {shape}")))
}
