//! What a fidelity must be, whatever it is made of.
