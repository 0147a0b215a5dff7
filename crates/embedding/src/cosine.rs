//! The similarity of two texts: the cosine of their embeddings.

/// The cosine of two vectors of one length, in [-1, 1]; 0 if either is a zero vector or they differ in
/// length. Computed in 64 bits, so that vectors of unit length up to rounding give no more than 1.
///
/// For the embeddings of two calls' arguments, the cosine is the similarity S of M³-Bench, section 4.1.
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return 0.0;
    }
    // The three sums share one pass: an addition waits only for the one before it in its own sum.
    let sums = a.iter().zip(b).fold([0.0_f64; 3], |[ab, aa, bb], (a, b)| {
        let (a, b) = (f64::from(*a), f64::from(*b));
        [ab + a * b, aa + a * a, bb + b * b]
    });
    let [dot, square_of_a, square_of_b] = sums;
    let norms = (square_of_a * square_of_b).sqrt();
    if norms > 0.0 { (dot / norms).clamp(-1.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::cosine;

    #[test]
    fn cosine_by_hand() {
        // (1, 2, 2) has length 3, (2, 0, 0) length 2, their product is 2: 2 / 6.
        assert!((cosine(&[1.0, 2.0, 2.0], &[2.0, 0.0, 0.0]) - 1.0 / 3.0).abs() < 1e-15);
        assert!((cosine(&[1.0, 0.0], &[-3.0, 0.0]) + 1.0).abs() < 1e-15);
        assert!(cosine(&[0.0, 0.0], &[1.0, 0.0]).abs() < 1e-15);
        assert!(cosine(&[1.0], &[1.0, 0.0]).abs() < 1e-15);
    }
}
