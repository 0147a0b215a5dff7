"""Writes pairs of searches for places, labelled by which place is meant: python3 searched.py OUT.jsonl

One place in two writings is the same; another place of the same town, the town itself, a part of a region for the region, and a kind of
place for the place are not, whether or not the question names them: a search for them finds something else.
"""

import json
import random
import sys

# Town, country, two sights, a street or quarter, an airport with its code.
TOWNS = """
Lisbon|Portugal|Belém Tower|São Jorge Castle|Alfama|Humberto Delgado Airport|LIS
Porto|Portugal|Clérigos Tower|Livraria Lello|Ribeira|Francisco Sá Carneiro Airport|OPO
Seville|Spain|Plaza de España|Metropol Parasol|Triana|San Pablo Airport|SVQ
Valencia|Spain|Oceanogràfic|Central Market|Ruzafa|Manises Airport|VLC
Lyon|France|Basilica of Notre-Dame de Fourvière|Parc de la Tête d'Or|Vieux Lyon|Saint-Exupéry Airport|LYS
Turin|Italy|Mole Antonelliana|Egyptian Museum|Crocetta|Caselle Airport|TRN
Naples|Italy|Castel dell'Ovo|Archaeological Museum|Spaccanapoli|Capodichino Airport|NAP
Athens|Greece|Acropolis|Benaki Museum|Plaka|Eleftherios Venizelos Airport|ATH
Krakow|Poland|Wawel Castle|Cloth Hall|Kazimierz|John Paul II Airport|KRK
Gdansk|Poland|St. Mary's Basilica|Museum of the Second World War|Oliwa|Lech Wałęsa Airport|GDN
Oslo|Norway|Vigeland Park|Fram Museum|Grünerløkka|Gardermoen Airport|OSL
Bergen|Norway|Bryggen|Edvard Grieg Museum|Nygårdsgaten|Flesland Airport|BGO
Helsinki|Finland|Suomenlinna|Temppeliaukio Church|Kallio|Vantaa Airport|HEL
Tallinn|Estonia|Toompea Castle|Kumu Art Museum|Kalamaja|Lennart Meri Airport|TLL
Riga|Latvia|House of the Blackheads|Central Market Hall|Mežaparks|Riga International Airport|RIX
Ghent|Belgium|Gravensteen|St Bavo's Cathedral|Patershol|Kortrijk Wevelgem Airport|KJK
Edinburgh|Scotland|Holyrood Palace|National Museum of Scotland|Leith|Turnhouse Airport|EDI
Dublin|Ireland|Kilmainham Gaol|Guinness Storehouse|Temple Bar|Collinstown Airport|DUB
Zagreb|Croatia|Mirogoj Cemetery|Museum of Broken Relationships|Gornji Grad|Franjo Tuđman Airport|ZAG
Marrakesh|Morocco|Bahia Palace|Majorelle Garden|Gueliz|Menara Airport|RAK
Nairobi|Kenya|Giraffe Centre|Karen Blixen Museum|Westlands|Jomo Kenyatta Airport|NBO
Hanoi|Vietnam|Temple of Literature|Hoa Lo Prison|Tay Ho|Noi Bai Airport|HAN
Kyoto|Japan|Fushimi Inari Shrine|Nijo Castle|Gion|Kansai Airport|KIX
Busan|South Korea|Haedong Yonggungsa Temple|Jagalchi Market|Seomyeon|Gimhae Airport|PUS
Taipei|Taiwan|Longshan Temple|National Palace Museum|Ximending|Taoyuan Airport|TPE
Jaipur|India|Hawa Mahal|Jantar Mantar|Bapu Bazaar|Sanganer Airport|JAI
Perth|Australia|Kings Park|Fremantle Prison|Subiaco|Redcliffe Airport|PER
Wellington|New Zealand|Te Papa Museum|Zealandia Sanctuary|Cuba Street|Rongotai Airport|WLG
Halifax|Canada|Pier 21 Museum|Citadel Hill|Hydrostone|Stanfield Airport|YHZ
Calgary|Canada|Heritage Park|Glenbow Museum|Kensington|McCall Field Airport|YYC
Portland|Oregon|Pittock Mansion|Japanese Garden|Alberta Street|Portland International Airport|PDX
Savannah|Georgia|Forsyth Park|Bonaventure Cemetery|Starland|Hilton Head Airport|SAV
Quito|Ecuador|La Compañía Church|TelefériQo|La Floresta|Mariscal Sucre Airport|UIO
Cusco|Peru|Sacsayhuamán|Qorikancha|San Blas|Velasco Astete Airport|CUZ
"""

HOTELS = "Aurora|Grand Meridian|Old Mill|Blue Lantern|Casa Verde|Harbour Lights|The Weavers|Seven Oaks|Solstice|Corner House".split("|")
TOPICS = "jazz|pottery|street food|modern art|hiking|opera|chocolate|cycling".split("|")
KINDS = "shopping mall|night market|botanical garden|public library|ice rink|aquarium".split("|")
TOOLS = [
    ("taxi/search_location", "query"), ("hotels/search_destination", "query"), ("attractions/search_location", "query"),
    ("rental/find_pickup_point", "location"), ("maps/search_places", "text"), ("events/find_venue", "name"),
]


def pairs(town, rest, chance):
    name, country, sight, other, quarter, airport, code = town
    away = chance.choice([row for row in rest if row[0] != name])
    hotel = f"{chance.choice(HOTELS)} {chance.choice(['Hotel', 'Suites', 'Inn', 'Residence'])}"
    topic, kind = chance.choice(TOPICS), chance.choice(KINDS)
    trip = f"I stay at {hotel} in {name}. How much is a taxi from there to {sight}, and what is on at {other}?"
    visit = f"We want to see {sight} in {name} on Friday. Which hotels are near it, and when does it open?"
    flight = f"Fly me from {name} to {away[0]} on the 3rd of May, and rent a car at {airport}."
    leisure = f"Our group likes {topic}. What is there to do around it in {name}, {country}?"
    shops = f"How far is the {name} {kind} from {quarter} in {name}?"
    same = [
        (visit, sight, f"{sight}, {name}"), (visit, sight, f"{sight}, {name}, {country}"), (visit, f"{sight} {name}", f"{name} {sight}"),
        (trip, f"{hotel}, {name}", f"{hotel} {name} {country}"), (trip, hotel, f"{hotel}, {name}"), (trip, other, other.upper()),
        (flight, name, f"{name}, {country}"), (flight, airport, f"{name} {airport}"), (flight, f"{name} airport", f"{airport}, {name}"),
        (flight, airport, f"{airport} ({code})"), (flight, f"{airport}, {name}", f"{airport} {code}"),
        (leisure, f"{topic}, {name}", f"{topic} in {name}"), (leisure, f"{topic}, {name}", f"{name} {topic}, {country}"),
        (shops, f"{name} {kind}", f"{kind}, {name}"), (shops, quarter, f"{quarter}, {name}"),
    ]
    different = [
        (trip, hotel, sight), (trip, f"{hotel}, {name}", f"{sight}, {name}"), (trip, f"{hotel} {name}", other), (trip, sight, f"{other}, {name}"),
        (visit, sight, name), (visit, sight, f"{name} city center"), (visit, f"{sight}, {name}", f"{name}, {country}"), (trip, hotel, f"{quarter}, {name}"),
        (flight, country, f"{name} {country}"), (flight, country, f"{airport}, {name}"), (flight, name, away[0]), (flight, airport, f"{away[5]}"),
        (leisure, f"{topic}, {name}", name), (leisure, f"{topic}, {name}", f"{topic} {away[0]}"), (leisure, name, f"{name} center"),
        (shops, f"{name} {kind}", kind), (shops, f"{name} {kind}", f"{kind} near {quarter}"), (shops, f"{name} {kind}", name),
    ]
    for label, all_of_label in ((1, same), (0, different)):
        for question, a, b in chance.sample(all_of_label, 6):
            tool, key = chance.choice(TOOLS)
            yield {"tool": tool, "question": question, "a": {key: a}, "b": {key: b}, "same": label, "edit": "written otherwise" if label else "another place"}


def main():
    chance = random.Random(5)
    towns = [tuple(line.split("|")) for line in TOWNS.strip().splitlines()]
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        for town in towns:
            for pair in pairs(town, towns, chance):
                out.write(json.dumps(pair, ensure_ascii=False) + "\n")


main()
