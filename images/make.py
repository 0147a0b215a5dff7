"""Draws the images of the small benchmark in trajectories/.

    python3 -m pip install -r requirements.txt
    python3 make.py [FOLDER]

Everything is drawn here, so the licence of the images is that of this repository. The boxes in the
references are the ones used below.
"""

import math
import pathlib
import random
import sys

import barcode
import segno
from PIL import Image, ImageDraw, ImageFont

SIZE = (960, 640)
PAPER, INK, GREY, PALE = "#faf8f4", "#22262b", "#8a9099", "#e4e1da"
RED, GREEN, BLUE, YELLOW, VIOLET = "#c8372d", "#2f8f4e", "#2c66b8", "#e2b72c", "#7a4fa3"


class Canvas:
    """An image with the few shapes that the scenes need. Boxes are (x1, y1, x2, y2) in pixels."""

    def __init__(self, background=PAPER):
        self.image = Image.new("RGB", SIZE, background)
        self.draw = ImageDraw.Draw(self.image)

    def text(self, xy, text, size=28, color=INK, anchor="la"):
        self.draw.text(xy, text, fill=color, font=ImageFont.load_default(size), anchor=anchor)

    def box(self, box, fill, outline=INK, width=3, radius=0):
        self.draw.rounded_rectangle(box, radius, fill=fill, outline=outline, width=width)

    def disc(self, center, radius, fill, outline=INK, width=3):
        x, y = center
        box = (x - radius, y - radius, x + radius, y + radius)
        self.draw.ellipse(box, fill=fill, outline=outline, width=width)

    def line(self, points, color=INK, width=4):
        self.draw.line(points, fill=color, width=width, joint="curve")

    def bars(self, box, kind, number):
        """A one-dimensional barcode that fills the box, with the number below it."""
        x1, y1, x2, y2 = box
        self.draw.rectangle(box, fill="white")
        pattern = barcode.get(kind, number).build()[0]
        module = (x2 - x1) // (len(pattern) + 20)
        left = x1 + ((x2 - x1) - module * len(pattern)) // 2
        for index, bit in enumerate(pattern):
            if bit == "1":
                x = left + index * module
                self.draw.rectangle((x, y1 + 8, x + module - 1, y2 - 34), fill="black")
        self.text(((x1 + x2) // 2, y2 - 6), number, 22, "black", "ms")

    def qr(self, center, scale, text):
        """A QR code with its quiet zone, around the center."""
        matrix = segno.make(text, error="m", micro=False).matrix
        side = (len(matrix) + 8) * scale
        x, y = (middle - side // 2 for middle in center)
        self.draw.rectangle((x, y, x + side, y + side), fill="white")
        for row, line in enumerate(matrix, 4):
            for column, bit in enumerate(line, 4):
                if bit:
                    left, top = x + column * scale, y + row * scale
                    self.draw.rectangle((left, top, left + scale - 1, top + scale - 1), fill="black")

    def face(self, center, radius, skin, hair):
        x, y = center
        self.disc((x, y - radius // 6), radius + 8, hair, hair)
        self.disc(center, radius, skin)
        for side in (-1, 1):
            self.disc((x + side * radius // 3, y - radius // 5), radius // 9, INK)
        self.draw.arc((x - radius // 2, y - radius // 3, x + radius // 2, y + radius // 2), 20, 160, INK, 4)


def shelf():
    c = Canvas("#d9c7a7")
    for y in (300, 620):
        c.draw.rectangle((0, y, 960, y + 20), fill="#8b6a3f")
    boxes = (((60, 40, 440, 300), "OAT BISCUITS", YELLOW), ((520, 40, 900, 300), "RYE CRACKERS", GREEN))
    for box, name, color in boxes:
        c.box(box, color, radius=16)
        c.text(((box[0] + box[2]) // 2, 76), name, 34, INK, "mm")
    c.bars((100, 130, 400, 270), "ean13", "4006381333931")
    c.bars((560, 130, 860, 270), "ean13", "9780201379624")
    for x, name, price in ((80, "Oat biscuits", "2.49"), (540, "Rye crackers", "3.15")):
        c.box((x, 340, x + 320, 430), "white", radius=8)
        c.text((x + 16, 352), name, 28)
        c.text((x + 304, 418), f"{price} EUR", 34, RED, "rs")
    return c


def parcel():
    c = Canvas("#b98d5b")
    c.box((120, 60, 840, 580), "white", radius=10)
    c.text((150, 84), "FROM  Harbour Books, Quay 7", 26)
    c.text((150, 124), "TO    M. Lindqvist, Elm Street 12", 26)
    c.line([(120, 180), (840, 180)], INK, 3)
    c.bars((150, 210, 810, 350), "code128", "HB-2044-7719-EX")
    c.qr((250, 470), 5, "https://example.org/track/HB20447719")
    c.text((370, 420), "2.8 kg", 44)
    c.text((370, 490), "EXPRESS", 44, RED)
    return c


def receipt():
    c = Canvas("#56606b")
    c.box((260, 20, 700, 620), "white", width=2)
    c.text((480, 60), "CORNER STORE", 36, INK, "mm")
    items = (("Milk 1 l", "1.19"), ("Bread", "2.80"), ("Apples 1 kg", "2.49"), ("Cheese", "4.35"),
             ("Coffee", "6.90"), ("Soap", "1.27"))
    for row, (name, price) in enumerate(items):
        y = 130 + 56 * row
        c.text((290, y), name, 28)
        c.text((670, y), price, 28, INK, "ra")
    c.line([(290, 480), (670, 480)], GREY, 2)
    c.text((290, 500), "paid in cash", 26, GREY)
    c.text((290, 550), "2026-03-14  17:42", 26, GREY)
    return c


def chart():
    c = Canvas()
    c.text((480, 40), "Visitors per day", 36, INK, "mm")
    c.line([(90, 90), (90, 560), (920, 560)], INK, 4)
    days = (("Mon", 120), ("Tue", 180), ("Wed", 150), ("Thu", 210), ("Fri", 260), ("Sat", 400), ("Sun", 360))
    for index, (day, value) in enumerate(days):
        x = 120 + 115 * index
        c.box((x, 560 - value, x + 80, 560), BLUE if index < 5 else RED, width=2)
        c.text((x + 40, 546 - value), str(value), 26, INK, "ms")
        c.text((x + 40, 600), day, 26, INK, "ms")
    return c


def dice():
    c = Canvas("#2f6b4a")
    spots = {1: [(0, 0)], 2: [(-1, -1), (1, 1)], 3: [(-1, -1), (0, 0), (1, 1)],
             4: [(-1, -1), (1, 1), (-1, 1), (1, -1)], 5: [(-1, -1), (1, 1), (-1, 1), (1, -1), (0, 0)],
             6: [(-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)]}
    places = ((60, 60, 6), (380, 60, 2), (700, 60, 5), (220, 360, 5), (540, 360, 3))
    for x, y, value in places:
        c.box((x, y, x + 200, y + 200), "white", radius=30)
        for dx, dy in spots[value]:
            c.disc((x + 100 + 58 * dx, y + 100 + 58 * dy), 20, INK)
    return c


def crowd():
    c = Canvas("#9fc4dc")
    c.draw.rectangle((0, 470, 960, 640), fill="#7d8a5a")
    people = ((160, 250, 80, "#e8b98f", "#4a2d1b", BLUE), (480, 220, 90, "#8d5a3b", "#1d1512", RED),
              (800, 260, 76, "#f0cfb0", "#c99a3b", GREEN))
    for x, y, radius, skin, hair, shirt in people:
        c.box((x - 100, y + radius - 6, x + 100, 660), shirt, radius=40)
        c.face((x, y), radius, skin, hair)
    c.box((620, 500, 880, 590), "white", radius=8)
    c.text((750, 545), "M-LX 4471", 40, INK, "mm")
    return c


def shapes():
    c = Canvas()
    c.disc((150, 150), 90, RED)
    c.box((330, 60, 530, 240), BLUE)
    c.draw.polygon([(760, 50), (660, 240), (860, 240)], fill=YELLOW, outline=INK, width=3)
    c.box((60, 380, 300, 540), GREEN, radius=30)
    c.disc((480, 460), 110, VIOLET)
    c.disc((780, 460), 60, RED)
    return c


def badges():
    c = Canvas("#cfd6dd")
    people = (((40, 60, 300, 520), "Ada", "speaker"), ((350, 60, 610, 520), "Linus", "guest"),
              ((660, 60, 920, 520), "Grace", "staff"))
    for box, name, role in people:
        c.box(box, "white", radius=20)
        c.text(((box[0] + box[2]) // 2, 110), name, 48, INK, "mm")
        c.text(((box[0] + box[2]) // 2, 165), role, 30, BLUE, "mm")
        c.qr(((box[0] + box[2]) // 2, 350), 7, f"{name}:{role}:2026")
    return c


def plan():
    c = Canvas()
    # 80 pixels a metre.
    rooms = (((80, 60, 480, 340), "KITCHEN 5.0 x 3.5 m", "#f3dfc8"),
             ((480, 60, 880, 340), "BEDROOM 5.0 x 3.5 m", "#d8e6f3"),
             ((80, 340, 640, 600), "LIVING ROOM 7.0 x 3.25 m", "#e3efd9"),
             ((640, 340, 880, 600), "BATH 3.0 x 3.25 m", "#e9dcef"))
    for box, name, color in rooms:
        c.box(box, color, width=6)
        c.text(((box[0] + box[2]) // 2, (box[1] + box[3]) // 2), name, 24, INK, "mm")
    return c


def clock():
    c = Canvas("#3f4a57")
    c.disc((480, 320), 280, "white", INK, 12)

    def at(degrees, radius):
        """The point so many degrees clockwise from twelve."""
        angle = math.radians(degrees - 90)
        return (480 + radius * math.cos(angle), 320 + radius * math.sin(angle))

    for hour in range(12):
        c.line([at(30 * hour, 235), at(30 * hour, 262)], INK, 10)
    # 4:20
    for degrees, length, width in ((30 * (4 + 20 / 60), 150, 16), (6 * 20, 220, 10)):
        c.line([(480, 320), at(degrees, length)], INK, width)
    c.disc((480, 320), 16, RED)
    return c


def garden():
    c = Canvas("#7fae6a")
    places = random.Random(4)
    for box in ((60, 60, 420, 300), (540, 60, 900, 300), (60, 360, 420, 600), (540, 360, 900, 600)):
        c.box(box, "#6b4a2f", radius=12)
    beds = (((60, 60), RED, 7), ((540, 60), YELLOW, 4), ((60, 360), VIOLET, 9), ((540, 360), "white", 5))
    for (x1, y1), color, count in beds:
        spots = places.sample([(column, row) for column in range(5) for row in range(3)], count)
        for column, row in spots:
            c.disc((x1 + 48 + 66 * column, y1 + 50 + 70 * row), 22, color)
    return c


def poster():
    c = Canvas("#20324a")
    c.text((480, 120), "NIGHT OF SCIENCE", 72, "white", "mm")
    c.text((480, 220), "Saturday 9 May, 18:00", 44, YELLOW, "mm")
    c.text((480, 300), "Old Observatory, Hill Road 3", 40, "white", "mm")
    c.disc((160, 480), 90, "#d9d5c3", "#d9d5c3")
    c.disc((200, 460), 80, "#20324a", "#20324a")
    for x, y in ((330, 400), (420, 520), (540, 430), (640, 560)):
        c.disc((x, y), 5, "white", "white")
    c.qr((820, 490), 6, "https://example.org/night")
    return c


SCENES = (shelf, parcel, receipt, chart, dice, crowd, shapes, badges, plan, clock, garden, poster)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for scene in SCENES:
        image = scene().image.quantize(64, dither=Image.Dither.NONE)
        image.save(folder / f"{scene.__name__}.png", optimize=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
