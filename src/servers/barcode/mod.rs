//! The `barcode` server.

mod geometry;
mod scan;
