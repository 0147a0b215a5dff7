//! The font for texts in pictures that m3 makes, so that pictures are the same on every machine.

/// A subset of DejaVu Sans, made by `fonts/make.py`.
pub const FONT: &[u8] = include_bytes!("../fonts/DejaVuSans-subset.ttf");
