//! Replies of providers.

#![no_main]

m3_fuzz::fuzz!(m3_fuzz::replies::check);
