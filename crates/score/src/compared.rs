//! Which calls' arguments are compared: [`ComparedPair`].

use super::CallPlace;
use super::fidelity::CallFidelity;

/// A reference call and the predicted call that its arguments are compared with. It is another one than the alignment's
/// where the cosine hardly tells calls apart, or where calls differ in which files they use.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedPair {
    /// The reference call.
    pub reference: CallPlace,
    /// The predicted call.
    pub predicted: CallPlace,
    /// How far their arguments ask for the same.
    pub fidelity: CallFidelity,
}
