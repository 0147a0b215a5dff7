"""Makes DejaVuSans-subset.ttf: the characters that figures show, out of DejaVu Sans.

    npm pack dejavu-fonts-ttf@2.37.3 && tar xf dejavu-fonts-ttf-2.37.3.tgz
    python3 make.py package/ttf/DejaVuSans.ttf DejaVuSans-subset.ttf

Kerning and ligatures are left out, so that the width of a text is the sum of its characters' advances, which
is how m3 measures it. Hinting is left out because figures are drawn at any scale.

Needs the packages in requirements.txt; the same versions give the same bytes.
"""

import hashlib
import sys

from fontTools import subset

# DejaVu Sans 2.37.
SHA256 = "7da195a74c55bef988d0d48f9508bd5d849425c1770dba5d7bfc6ce9ed848954"

RANGES = [
    (0x0020, 0x007E),  # ASCII
    (0x00A0, 0x017F),  # Latin-1 supplement, Latin extended A
    (0x0300, 0x036F),  # combining marks
    (0x0370, 0x03FF),  # Greek
    (0x0400, 0x045F),  # Cyrillic
    (0x2010, 0x2027),  # dashes, quotation marks, bullets, the ellipsis
    (0x2030, 0x203E),  # per mille, primes, angle quotation marks
    (0x2070, 0x209C),  # superscripts and subscripts
    (0x20AC, 0x20AC),  # the euro sign
    (0x2122, 0x2122),  # trade mark
    (0x2190, 0x2195),  # arrows
    (0x2200, 0x2265),  # mathematics
    (0xFFFD, 0xFFFD),  # the replacement character
]


def main(source, target):
    with open(source, "rb") as file:
        if hashlib.sha256(file.read()).hexdigest() != SHA256:
            sys.exit(f"{source} is not DejaVu Sans 2.37")
    options = subset.Options(
        layout_features=[],
        hinting=False,
        notdef_outline=True,
        # The licence asks that the notices stay with the font.
        name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14],
        drop_tables=["FFTM", "GPOS", "GSUB", "GDEF", "kern"],
    )
    font = subset.load_font(source, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[c for first, last in RANGES for c in range(first, last + 1)])
    subsetter.subset(font)
    # Else the time of this run would be in the file.
    font.recalcTimestamp = False
    subset.save_font(font, target, options)


if __name__ == "__main__":
    main(*sys.argv[1:])
