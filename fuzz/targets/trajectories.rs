//! Files of predictions and of references.

#![no_main]

m3_fuzz::fuzz!(m3_fuzz::trajectories::check);
