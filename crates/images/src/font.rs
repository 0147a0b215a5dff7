//! The font of every picture that m3 makes, so that they look the same on every machine.

/// A subset of DejaVu Sans, made by `fonts/make.py`.
pub const FONT: &[u8] = include_bytes!("../fonts/DejaVuSans-subset.ttf");
