//! What the pictures in `images` show, and where: as `images/make.py` draws them.

use super::random::Random;

/// A picture and its parts.
pub(crate) struct Scene {
    /// Its path.
    pub(crate) image: &'static str,
    /// Its parts.
    pub(crate) regions: &'static [Region],
}

/// A part of a picture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Region {
    /// What it is, in words.
    pub(crate) words: &'static str,
    /// A name of a file for it.
    pub(crate) name: &'static str,
    /// Left, top, right, bottom in pixels.
    pub(crate) edges: [i64; 4],
}

/// Width and height of every picture.
pub(crate) const SIZE: (i64, i64) = (960, 640);

const fn region(words: &'static str, name: &'static str, edges: [i64; 4]) -> Region {
    Region { words, name, edges }
}

/// All pictures.
pub(crate) const SCENES: [Scene; 10] = [
    Scene {
        image: "images/shelf.png",
        regions: &[
            region("the yellow pack", "oat", [60, 40, 441, 300]),
            region("the green pack", "rye", [520, 40, 901, 300]),
            region("the price of the biscuits", "oat-price", [80, 340, 401, 431]),
            region("the price of the crackers", "rye-price", [540, 340, 861, 431]),
        ],
    },
    Scene {
        image: "images/parcel.png",
        regions: &[
            region("the barcode with its lines", "bars", [150, 210, 810, 350]),
            region("the square code", "square", [140, 380, 360, 560]),
        ],
    },
    Scene {
        image: "images/badges.png",
        regions: &[
            region("Ada's badge", "ada", [40, 60, 301, 520]),
            region("Linus's badge", "linus", [350, 60, 611, 520]),
            region("Grace's badge", "grace", [660, 60, 921, 520]),
        ],
    },
    Scene {
        image: "images/poster.png",
        regions: &[
            region("the moon", "moon", [60, 380, 290, 580]),
            region("the code", "code", [709, 379, 931, 601]),
            region("the title", "title", [150, 80, 810, 165]),
            region("the date", "date", [250, 195, 710, 250]),
        ],
    },
    Scene {
        image: "images/plan.png",
        regions: &[
            region("the kitchen", "kitchen", [80, 60, 481, 340]),
            region("the bedroom", "bedroom", [481, 60, 881, 340]),
            region("the living room", "living", [80, 340, 640, 600]),
            region("the bath", "bath", [640, 340, 881, 600]),
        ],
    },
    Scene {
        image: "images/receipt.png",
        regions: &[
            region("the name of the shop", "shop", [330, 40, 630, 82]),
            region("the list of what was bought", "items", [280, 130, 680, 450]),
            region("the date", "date", [280, 550, 510, 586]),
        ],
    },
    Scene {
        image: "images/crowd.png",
        regions: &[
            region("the face on the left", "left-face", [70, 150, 250, 340]),
            region("the face in the middle", "middle-face", [380, 110, 580, 320]),
            region("the face on the right", "right-face", [715, 165, 885, 345]),
            region("the number plate", "plate", [620, 500, 881, 591]),
        ],
    },
    Scene {
        image: "images/shapes.png",
        regions: &[
            region("the blue square", "blue", [320, 50, 541, 250]),
            region("the triangle", "triangle", [650, 40, 871, 250]),
            region("the violet disc", "violet", [360, 340, 601, 580]),
            region("the green shape", "green", [50, 370, 311, 551]),
            region("the large red disc", "red", [50, 50, 251, 250]),
        ],
    },
    Scene {
        image: "images/garden.png",
        regions: &[
            region("the first bed", "bed-1", [60, 60, 420, 300]),
            region("the second bed", "bed-2", [540, 60, 900, 300]),
            region("the third bed", "bed-3", [60, 360, 420, 600]),
            region("the fourth bed", "bed-4", [540, 360, 900, 600]),
        ],
    },
    Scene {
        image: "images/chart.png",
        regions: &[
            region("the bars of the weekend", "weekend", [690, 120, 900, 560]),
            region("the title", "title", [350, 15, 615, 65]),
            region("the bar of Friday", "friday", [575, 260, 666, 560]),
            region("the names of the days", "days", [110, 570, 910, 610]),
        ],
    },
];

/// Pictures with several codes.
pub(crate) const WITH_CODES: [(&str, &[Region]); 3] = [
    ("images/badges.png", SCENES[2].regions),
    ("images/parcel.png", SCENES[1].regions),
    (
        "images/shelf.png",
        &[
            region("the yellow pack", "oat", [60, 40, 441, 300]),
            region("the green pack", "rye", [520, 40, 901, 300]),
        ],
    ),
];

impl Region {
    /// Width and height in pixels.
    pub(crate) const fn size(&self) -> (i64, i64) {
        (self.edges[2] - self.edges[0], self.edges[3] - self.edges[1])
    }
}

/// A picture, and this many of its parts, all different.
pub(crate) fn scene(random: &mut Random, count: usize) -> (&'static str, Vec<Region>) {
    let fit: Vec<&Scene> = SCENES.iter().filter(|scene| scene.regions.len() >= count).collect();
    let scene = random.one(&fit);
    (scene.image, random.some(scene.regions, count))
}
