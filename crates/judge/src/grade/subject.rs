//! What is graded: [`Subject`].

use std::sync::Arc;

use m3_images::task_image::TaskImage;
use m3_trajectory::Trajectory;

/// What is graded: a prediction, what it is compared with, and the image.
#[derive(Debug, Clone, Default)]
pub struct Subject {
    /// The prediction that is graded.
    pub prediction: Trajectory,
    /// The reference, a correct solution.
    pub reference: Option<Trajectory>,
    /// The image; `None` if the task has none, or if no grader is to see it.
    pub picture: Option<TaskImage>,
    /// The tools that were offered, as [`offered`](super::offered) writes them, if they are known: a grader of tool use
    /// is shown them.
    pub tools: Option<Arc<str>>,
}

impl Subject {
    /// The path of the task's image: the reference's, or the prediction's if there is no reference or it has no image.
    /// The reference comes first because the prediction may have left the image out or replaced it, and this image is
    /// sent to providers.
    #[must_use]
    pub fn image(&self) -> Option<&str> {
        let of_reference = self.reference.as_ref().and_then(|reference| reference.image.as_deref());
        of_reference.or(self.prediction.image.as_deref())
    }
}
