//! An encoder that needs no model: texts are as near to one another as their letters are.

use m3_embedding::{Embedder, Embedding, Encoder, EncoderError, Identity};

/// Embeds texts by their letters.
#[must_use]
pub fn embedder() -> Embedder {
    let identity =
        Identity { name: "letters".into(), fingerprint: "1".into(), dimensions: 16, max_tokens: 256 };
    Embedder::new(Box::new(Letters(identity)), None)
}

struct Letters(Identity);

impl Encoder for Letters {
    fn identity(&self) -> &Identity {
        &self.0
    }

    fn embed(&mut self, texts: &[&str], done: &mut dyn FnMut(usize)) -> Result<Vec<Embedding>, EncoderError> {
        done(texts.len());
        Ok(texts.iter().map(|text| letters(text)).collect())
    }
}

/// How often each letter is in a text, of the length 1.
fn letters(text: &str) -> Embedding {
    let mut counts = [1.0_f32; 16];
    for byte in text.bytes() {
        counts[usize::from(byte % 16)] += 1.0;
    }
    let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
    counts.iter().map(|count| count / length).collect()
}
