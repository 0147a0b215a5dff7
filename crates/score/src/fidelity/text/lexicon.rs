//! What is known of words: general lists, none made from the pairs that a fidelity is measured on.
//!
//! Function words hold sentences together, request words ask for something (a search engine takes them or leaves
//! them), contrary words are alike to an encoder and mean different things. The rest is common knowledge: numbers,
//! abbreviations, synonyms, names of countries, languages and currencies.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

const FUNCTION_WORDS: &str = "a an the of in on at by for to with and or as is are was were be been being am it its this \
    that these those i me my we our you your he his she her they their them there here from into onto upon via per than \
    then so such some any each every all both either which who whom whose what when where how why do does did has have had \
    having will would shall should can could must if but also just very really quite near nearby around about up \
    within inside along across between among vs versus etc ie eg plus called named related regarding \
    concerning using im ive youre youve theyre theres whats wheres hows whos thats heres lets am";

const PREPOSITIONS: &str =
    "of in on at by for with and or via as near around within during before after until";

const REQUEST_WORDS: &str = "info information informations overview detail details guide online website web webpage site page \
    homepage buy buying purchase purchasing order ordering shop shopping price prices pricing cost costs find finding \
    search searching searches lookup look looking show showing give get getting tell list listing want wanted need needed \
    please help query result results answer question explain explanation describe description learn learning know meaning \
    definition define introduction intro summary summarize summarise fact facts data available availability browse view \
    see check let kindly thanks thank hello hi like would general basic basics background article articles wiki wikipedia \
    google internet link links read reading recommend recommends recommended recommendation recommendations suggest \
    suggested suggestion suggestions idea ideas tell wondering curious interested explore obtain locate located anyone someone \
    somebody possible able try trying hoping exactly actually currently simply basically kind kinds type types sort sorts \
    thing things example examples instance degree degrees pull bring different various certain particular specific entire whole official sale deal deals offer offers fetch retrieve provide display way ways";

/// Words of other languages that hold sentences together and that English does not have.
const FOREIGN_FUNCTION_WORDS: &str = "de en al ou mais aber oder sind ich sie wir der die das und ist ein eine einen fur mit nicht auf von zum zur bei aus wie im den dem des \
    le la les des du une et est dans pour avec sur pas aux en que qui ce cette las los una del por para con como es y \
    il lo gli di che non per della nel alla dei delle um uma os na ao dos das nas het een van voor met niet op bij och \
    att som med av til og pa i ja na w z do nie jest ve bir icin ile da w sie je li ne est sont un \
    в и на с по о для из от у к の は が を に へ と で も 的 了 在 和 의 을 를 이 가 은 는 에 و في من على";

/// Forms and spellings that no rule makes, each with the word it is taken for.
const IRREGULAR: &str = "children=child kids=kid wrote=write written=write went=go gone=go took=take taken=take gave=give given=give made=make bought=buy brought=bring \
    taught=teach thought=think caught=catch built=build sent=send spent=spend sold=sell told=tell won=win ran=run sang=sing sung=sing \
    swam=swim swum=swim drank=drink ate=eat eaten=eat drove=drive driven=drive rode=ride ridden=ride chose=choose chosen=choose \
    spoke=speak spoken=speak broke=break broken=break stole=steal stolen=steal froze=freeze frozen=freeze grew=grow grown=grow \
    knew=know known=know flew=fly flown=fly threw=throw thrown=throw drew=draw drawn=draw wore=wear worn=wear began=begin begun=begin \
    became=become kept=keep slept=sleep lost=lose met=meet paid=pay fought=fight forgot=forget forgotten=forget hid=hide hidden=hide \
    came=come held=hold heard=hear led=lead sought=seek stood=stand understood=understand \
    men=man women=woman people=person feet=foot teeth=tooth mice=mouse geese=goose \
    leaves=leaf knives=knife lives=life wives=wife shelves=shelf wolves=wolf loaves=loaf halves=half criteria=criterion \
    phenomena=phenomenon cacti=cactus fungi=fungus grey=gray tyre=tire tyres=tire aluminium=aluminum programme=program \
    programmes=program cheque=check pyjamas=pajamas doughnut=donut doughnuts=donut mould=mold plough=plow kerb=curb \
    moustache=mustache sceptical=skeptical yoghurt=yogurt omelette=omelet whisky=whiskey licence=license \
    defence=defense offence=offense practise=practice judgement=judgment ageing=aging artefact=artifact draught=draft \
    cosy=cozy doc=document docs=document \
    nicht=not не=not без=not ohne=not kein=not keine=not keinen=not sin=not pas=not senza=not sem=not nao=not ni=not minus=not nor=not neither=not lacking=not \
    no=not without=not non=not never=not sans=not cannot=not dont=not doesnt=not isnt=not wont=not except=not \
    excluding=not exclude=not ii=2 iii=3 iv=4 vi=6 vii=7 viii=8 ix=9 &=and";

const NUMBER_WORDS: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
    sixteen seventeen eighteen nineteen twenty";

const OTHER_NUMBER_WORDS: &str = "thirty=30 forty=40 fifty=50 sixty=60 seventy=70 eighty=80 ninety=90 hundred=100 thousand=1000 \
    million=1000000 billion=1000000000 dozen=12 first=1 second=2 third=3 fourth=4 fifth=5 sixth=6 seventh=7 eighth=8 \
    ninth=9 tenth=10 eleventh=11 twelfth=12 thirteenth=13 fourteenth=14 fifteenth=15 sixteenth=16 seventeenth=17 eighteenth=18 \
    nineteenth=19 twentieth=20 thirtieth=30 fortieth=40 fiftieth=50 sixtieth=60 seventieth=70 eightieth=80 \
    ninetieth=90 hundredth=100 thousandth=1000 millionth=1000000 dozens=12 hundreds=100 thousands=1000 \
    millions=1000000 billions=1000000000 trillion=1000000000000";

/// Words of a group mean different things however near an encoder puts them.
const CONTRARY: &str = "monday tuesday wednesday thursday friday saturday sunday|\
    january february march april may june july august september october november december|\
    north south east west northern southern eastern western|left right|up down top bottom upper lower|\
    red orange yellow green blue purple violet pink brown black white gray gold silver beige turquoise|\
    small medium large mini tiny huge big xs xxl xl sm little giant|cheap expensive luxury budget affordable|\
    before after during|buy sell|import export|open closed close|hot cold warm cool|new old used vintage modern ancient|\
    indoor outdoor|inside outside|male female|man woman|boy girl|men women|husband wife|mother father|brother sister|\
    son daughter|king queen|uncle aunt|mom dad|adult child baby senior|first last|best worst|good bad|high low|max min|maximum minimum|\
    increase decrease|rise fall|gain loss|win lose|profit loss|fast slow|quick slow|early late|morning afternoon evening night|\
    breakfast lunch dinner brunch|spring summer autumn winter|today tomorrow yesterday|daily weekly monthly yearly hourly|\
    day night|hour minute second day week month year|arrival departure|arriving departing|arrive depart|\
    entrance exit|start end|begin finish|push pull|on off|with not|include not|public private|free paid|domestic international|\
    single double triple|raw cooked|fresh frozen dried canned|sweet sour salty bitter|vegan vegetarian|wet dry|light dark heavy|\
    thick thin|long short|wide narrow|deep shallow|hard soft|easy difficult|easy hard|full empty|rich poor|strong weak|young old|\
    tall short|clean dirty|safe dangerous|legal illegal|urban rural|real fake|true false|yes not|minor major|over under|older younger newer|larger smaller bigger|longer shorter|earlier later|higher lower|taller shorter|\
    faster slower|heavier lighter|closer farther|cheaper dearer|\
    above below|more less|greater less fewer|most least|gold silver bronze copper platinum|diesel petrol gasoline|today tonight tomorrow yesterday|\
    weekday weekend|many few|always not|all not|north south|chicken beef pork fish lamb turkey|\
    walking driving cycling transit|walk drive cycle|car bus train plane bike boat truck taxi|input output|upload download|\
    sunrise sunset|sunny rainy cloudy snowy|noon midnight|husbands wives|sydney melbourne|tokyo osaka kyoto|nike adidas|cinema theatre museum|\
    hotel motel hostel|shoe sandal boot|jacket coat|spicy mild|regular decaf diet|unsalted salted|positive negative|\
    wireless wired|digital analog|manual automatic|electric gas diesel|upstream downstream|junior senior|prequel sequel|\
    acute chronic|benign malignant|oral topical|solid liquid|tablet capsule caplet syrup|front back rear|\
    alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois indiana iowa \
    kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana nebraska nevada ohio \
    oklahoma oregon pennsylvania tennessee texas utah vermont virginia wisconsin wyoming|\
    street road avenue lane boulevard drive court square|mercury venus mars jupiter saturn uranus neptune|usd eur gbp jpy inr cad aud|celsius fahrenheit kelvin|metric imperial|dog cat|beer wine|tea coffee|lion tiger|\
    shark whale|doctor nurse|teacher student|soccer basketball hockey tennis baseball|french german english spanish italian chinese japanese korean";

/// Words of a group mean the same.
const SYNONYMS: &str = "photo photograph picture image pic photos snapshot|movie film|car automobile auto|cheap inexpensive affordable|\
    hotel lodging accommodation|shop store|doctor physician|kid child|couch sofa|lawyer attorney|big large|buy purchase|\
    pill tablet|drug medicine medication|phone telephone|mobile cellphone smartphone cell|tv television|laptop notebook|\
    trip journey travel|vacation holiday|house home|apartment flat|elevator lift|truck lorry|gasoline petrol|\
    sneaker trainer|trousers pants|autumn fall|garbage trash rubbish|fix repair|quick fast rapid|job employment|study research|\
    sea ocean|rock stone|gift present|small little|happy glad|therapy treatment|company corporation firm|plane airplane aircraft aeroplane|\
    boat ship vessel|route path|city town|restroom bathroom toilet|start begin|end finish|side adverse|effect reaction|\
    cinema theater|recipe recipes|kidney renal|heart cardiac|cancer tumor|bike bicycle|motorcycle motorbike|subway metro underground|\
    soda pop|fries chips|cookie biscuit|eggplant aubergine|zucchini courgette|cilantro coriander|shrimp prawn|candy sweets|\
    flight airfare|weather forecast|price cost|near close|restaurant eatery diner|forest woods|hill mountain|jogging running|\
    swimsuit swimwear|sweater jumper pullover|diaper nappy|freeway highway motorway|mail post|stock share equity|revenue earnings|\
    wallet purse|spectacles glasses eyeglasses|hurricane typhoon cyclone|attractions sights|beach seaside|lake loch|\
    paracetamol acetaminophen|adrenaline epinephrine|flu influenza|belly stomach abdomen|baby infant|elderly senior";

/// Kinds of places in languages of Europe, used in addresses and names of places only.
const PLACE_WORDS: &str = "cathedral minster munster duomo dom catedral cathedrale|basilica basilique basiliek|church kirche eglise chiesa iglesia igreja kerk|\
    square platz plaza piazza place praca plein|street strasse rue via calle rua straat|avenue avenida allee|castle schloss chateau castello castillo kasteel|\
    palace palais palacio palazzo palast|bridge brucke bruecke pont ponte puente brug|station bahnhof gare estacion stazione|\
    museum musee museo museu|tower turm torre tour toren|park parc parque parco|garden garten jardin jardim giardino|university universitat universite universidad universita|\
    market markt marche mercado mercato|lake see lac lago|river fluss rio riviere fiume|mountain mount mont monte berg|island insel isla ile isola|\
    beach plage playa praia spiaggia strand|airport flughafen aeroport aeropuerto aeroporto|gate tor porte porta puerta|library bibliothek bibliotheque biblioteca|\
    theatre theater teatro|hospital krankenhaus hopital ospedale|opera oper|school schule ecole escuela scuola|port hafen puerto porto|\
    old alte alter altes vieux vieille viejo vieja vecchio vecchia velha|new neue neues neuer nouveau nouvelle nuevo nueva nuovo nuova nova|\
    saint st san santa santo sankt sainte|north nord norte|south sud sur sul|east ost est este|west ouest oeste ovest|\
    great grosse grande gran big|royal reale real konigliche koninklijk|national nacional nazionale nationale";

/// Abbreviations and what they stand for; in this form each word is looked for anywhere among the words left over.
const ABBREVIATIONS: &str = "c#=c sharp|c=celsius|f=fahrenheit|k=kilometer|k=thousand|bn=billion|mn=million|st=street|st=saint|ave=avenue|av=avenue|cd=caddesi|cad=caddesi|sok=sokak|sk=sokak|mah=mahallesi|str=strasse|rd=road|blvd=boulevard|dr=drive|dr=doctor|ln=lane|ct=court|sq=square|\
    pl=place|hwy=highway|pkwy=parkway|mt=mount|mt=mountain|ft=fort|n=north|s=south|e=east|w=west|ne=northeast|nw=northwest|se=southeast|\
    sw=southwest|apt=apartment|bldg=building|fl=floor|ste=suite|dept=department|univ=university|uni=university|inst=institute|\
    intl=international|govt=government|mgmt=management|co=company|corp=corporation|inc=incorporated|ltd=limited|assn=association|\
    approx=approximately|avg=average|max=maximum|min=minimum|temp=temperature|vol=volume|no=number|nr=number|num=number|qty=quantity|\
    pkg=package|pk=pack|ct=count|pc=piece|pcs=piece|ext=extra|reg=regular|lg=large|sm=small|med=medium|orig=original|\
    w=with|wo=without|b=and|amp=and|pt=part|ch=chapter|ep=episode|vol=volume|ed=edition|rev=review|mr=mister|prof=professor|\
    jan=january|feb=february|mar=march|apr=april|jun=june|jul=july|aug=august|sep=september|sept=september|oct=october|\
    nov=november|dec=december|mon=monday|tue=tuesday|tues=tuesday|wed=wednesday|thu=thursday|thurs=thursday|fri=friday|sat=saturday|\
    sun=sunday|usa=united states|usa=united states of america|us=united states|us=usa|america=usa|uk=united kingdom|uk=great britain|\
    gb=uk|britain=uk|uae=united arab emirates|eu=european union|un=united nations|la=los angeles|nyc=new york city|nyc=new york|\
    ny=new york|sf=san francisco|dc=district columbia|hk=hong kong|ai=artificial intelligence|ml=machine learning|\
    nlp=natural language processing|ev=electric vehicle|tv=television|pc=computer|pc=personal computer|os=operating system|\
    db=database|js=javascript|py=python|app=application|apps=application|config=configuration|repo=repository|spec=specification|\
    bbq=barbecue|veg=vegetable|fridge=refrigerator|lab=laboratory|gym=gymnasium|zoo=zoological garden|ad=advertisement|\
    exam=examination|math=mathematics|maths=mathematics|stats=statistics|bio=biology|chem=chemistry|econ=economics|\
    hrs=hour|hr=hour|mins=minute|sec=second|yr=year|yrs=year|wk=week|mo=month|lbs=pound|lb=pound|oz=ounce|kg=kilogram|km=kilometer|\
    cm=centimeter|mm=millimeter|ml=milliliter|mg=milligram|mcg=microgram|gb=gigabyte|tb=terabyte|mb=megabyte|\
    tbsp=tablespoon|tsp=teaspoon|bp=blood pressure|adhd=attention deficit hyperactivity disorder|ibs=irritable bowel syndrome|otc=over the counter|\
    al=alabama|ak=alaska|az=arizona|ar=arkansas|ca=california|co=colorado|ct=connecticut|de=delaware|fl=florida|ga=georgia|\
    hi=hawaii|id=idaho|il=illinois|in=indiana|ia=iowa|ks=kansas|ky=kentucky|la=louisiana|me=maine|md=maryland|\
    ma=massachusetts|mi=michigan|mn=minnesota|ms=mississippi|mo=missouri|mt=montana|ne=nebraska|nv=nevada|nh=new hampshire|\
    nj=new jersey|nm=new mexico|nc=north carolina|nd=north dakota|oh=ohio|ok=oklahoma|or=oregon|pa=pennsylvania|ri=rhode island|\
    sc=south carolina|sd=south dakota|tn=tennessee|tx=texas|ut=utah|vt=vermont|va=virginia|wa=washington|wv=west virginia|\
    wi=wisconsin|wy=wyoming|on=ontario|bc=british columbia|qc=quebec|nsw=new south wales|ab=alberta|mb=manitoba|ns=nova scotia|nb=new brunswick|sk=saskatchewan|qld=queensland|tas=tasmania";

/// Countries with their codes, and forms of their names.
pub(in crate::fidelity) const COUNTRIES: &[&str] = &[
    "us, usa, united states, united states of america, america, u.s., u.s.a.",
    "gb, uk, united kingdom, great britain, britain, gbr",
    "de, deu, germany, deutschland",
    "fr, fra, france",
    "es, esp, spain, espana",
    "it, ita, italy, italia",
    "ca, can, canada",
    "au, aus, australia",
    "jp, jpn, japan",
    "cn, chn, china",
    "in, ind, india",
    "br, bra, brazil, brasil",
    "mx, mex, mexico",
    "ru, rus, russia",
    "kr, kor, south korea, korea",
    "nl, nld, netherlands, holland",
    "be, bel, belgium",
    "ch, che, switzerland",
    "at, aut, austria",
    "se, swe, sweden",
    "no, nor, norway",
    "dk, dnk, denmark",
    "fi, fin, finland",
    "ie, irl, ireland",
    "pt, prt, portugal",
    "gr, grc, greece",
    "tr, tur, turkey, turkiye",
    "pl, pol, poland",
    "cz, cze, czech republic, czechia",
    "hu, hun, hungary",
    "ro, rou, romania",
    "ua, ukr, ukraine",
    "il, isr, israel",
    "ae, are, united arab emirates, uae",
    "sa, sau, saudi arabia",
    "eg, egy, egypt",
    "za, zaf, south africa",
    "ng, nga, nigeria",
    "ke, ken, kenya",
    "ma, mar, morocco",
    "th, tha, thailand",
    "vn, vnm, vietnam",
    "id, idn, indonesia",
    "my, mys, malaysia",
    "sg, sgp, singapore",
    "ph, phl, philippines",
    "nz, nzl, new zealand",
    "ar, arg, argentina",
    "cl, chl, chile",
    "co, col, colombia",
    "pe, per, peru",
    "hk, hkg, hong kong",
    "tw, twn, taiwan",
    "pk, pak, pakistan",
    "is, isl, iceland",
    "hr, hrv, croatia",
    "cu, cub, cuba",
    "scotland",
    "england",
    "wales",
];

/// Languages with their codes, and their own names.
pub(in crate::fidelity) const LANGUAGES: &[&str] = &[
    "en, eng, english",
    "de, deu, ger, german, deutsch",
    "fr, fra, fre, french, francais",
    "es, spa, spanish, espanol",
    "it, ita, italian, italiano",
    "pt, por, portuguese, portugues",
    "nl, nld, dut, dutch, nederlands",
    "ru, rus, russian",
    "zh, zho, chi, chinese, mandarin, chi_sim",
    "ja, jpn, japanese",
    "ko, kor, korean",
    "ar, ara, arabic",
    "hi, hin, hindi",
    "tr, tur, turkish",
    "pl, pol, polish",
    "sv, swe, swedish",
    "no, nor, norwegian",
    "da, dan, danish",
    "fi, fin, finnish",
    "el, ell, gre, greek",
    "he, heb, hebrew",
    "cs, ces, cze, czech",
    "hu, hun, hungarian",
    "ro, ron, rum, romanian",
    "th, tha, thai",
    "vi, vie, vietnamese",
    "id, ind, indonesian",
    "uk, ukr, ukrainian",
    "la, lat, latin",
];

/// Currencies with their codes and signs.
pub(in crate::fidelity) const CURRENCIES: &[&str] = &[
    "usd, $, us$, dollar, dollars, us dollar, us dollars",
    "eur, €, euro, euros",
    "gbp, £, pound, pounds, british pound, pound sterling",
    "jpy, ¥, yen, japanese yen",
    "cny, rmb, yuan, renminbi",
    "inr, rupee, rupees, ₹",
    "cad, canadian dollar, c$",
    "aud, australian dollar, a$",
    "chf, swiss franc, franc",
    "krw, won, ₩",
    "brl, real",
    "mxn, peso",
    "btc, bitcoin",
    "eth, ethereum, ether",
];

type Set = LazyLock<HashSet<&'static str>>;
type Pairs = LazyLock<HashMap<&'static str, &'static str>>;
type Groups = LazyLock<HashMap<&'static str, Vec<usize>>>;

fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_whitespace().collect()
}

fn groups(text: &'static str) -> HashMap<&'static str, Vec<usize>> {
    let mut found: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, group) in text.split('|').enumerate() {
        for word in group.split_whitespace() {
            found.entry(word).or_default().push(index);
        }
    }
    found
}

fn share(groups: &HashMap<&str, Vec<usize>>, a: &str, b: &str) -> bool {
    match (groups.get(a), groups.get(b)) {
        (Some(x), Some(y)) => a != b && x.iter().any(|group| y.contains(group)),
        _ => false,
    }
}

/// Whether a word only holds a sentence together.
pub(super) fn is_function_word(word: &str) -> bool {
    static WORDS: Set = LazyLock::new(|| set(FUNCTION_WORDS));
    WORDS.contains(word)
}

/// Whether a word asks for something rather than says what is asked for.
pub(super) fn is_request_word(word: &str) -> bool {
    static WORDS: Set = LazyLock::new(|| set(REQUEST_WORDS));
    WORDS.contains(word)
}

/// Whether a word ends what a preposition before it says something of.
pub(super) fn is_preposition(word: &str) -> bool {
    static WORDS: Set = LazyLock::new(|| set(PREPOSITIONS));
    WORDS.contains(word)
}

/// Whether a word holds sentences of another language together.
pub(super) fn is_foreign_function_word(word: &str) -> bool {
    static WORDS: Set = LazyLock::new(|| set(FOREIGN_FUNCTION_WORDS));
    WORDS.contains(word)
}

/// The word that an irregular form or spelling is taken for, else the word itself.
pub(super) fn irregular(word: &str) -> &str {
    static WORDS: Pairs =
        LazyLock::new(|| IRREGULAR.split_whitespace().filter_map(|pair| pair.split_once('=')).collect());
    WORDS.get(word).copied().unwrap_or(word)
}

/// The number that a word says.
pub(super) fn number_word(word: &str) -> Option<f64> {
    static WORDS: LazyLock<HashMap<&str, f64>> = LazyLock::new(|| {
        let small =
            NUMBER_WORDS.split_whitespace().zip(0_u32..).map(|(word, number)| (word, f64::from(number)));
        let others = OTHER_NUMBER_WORDS.split_whitespace().filter_map(|pair| pair.split_once('='));
        small.chain(others.filter_map(|(word, number)| Some((word, number.parse().ok()?)))).collect()
    });
    WORDS.get(word).copied().or_else(|| Some(irregular(word)).filter(|known| *known != word)?.parse().ok())
}

/// Whether two words mean different things although they are used alike.
pub(super) fn are_contrary(a: &str, b: &str) -> bool {
    static WORDS: Groups = LazyLock::new(|| groups(CONTRARY));
    if are_synonyms(a, b) {
        return false;
    }
    let are_names = match (NAMES.get(a), NAMES.get(b)) {
        (Some(x), Some(y)) => {
            x.iter().any(|(kind, row)| y.iter().any(|(other, at)| kind == other && row != at))
        }
        _ => false,
    };
    share(&WORDS, a, b) || are_names || is_negated(a, b) || is_negated(b, a)
}

/// Whether the second word is the first with a prefix that turns its meaning round.
fn is_negated(a: &str, b: &str) -> bool {
    let prefixes = ["un", "non", "dis", "in", "im", "ir", "il", "anti", "mis", "de"];
    let is_without = b.strip_suffix("less").is_some_and(|stem| {
        stem.len() >= 3 && ["", "ed", "ful", "y"].iter().any(|end| a.strip_suffix(end) == Some(stem))
    });
    is_without || (a.len() >= 4 && prefixes.iter().any(|prefix| b.strip_prefix(prefix) == Some(a)))
}

/// Names of countries and of languages, with their table and their row in it.
static NAMES: LazyLock<HashMap<&str, Vec<(usize, usize)>>> = LazyLock::new(|| {
    let mut found: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (kind, table) in [COUNTRIES, LANGUAGES].into_iter().enumerate() {
        for (row, names) in table.iter().enumerate() {
            for name in names.split(", ").filter(|name| name.len() > 3) {
                found.entry(name).or_default().push((kind, row));
            }
        }
    }
    found
});

/// Whether two words, or their singulars, mean the same.
pub(super) fn are_synonyms(a: &str, b: &str) -> bool {
    static WORDS: Groups = LazyLock::new(|| groups(SYNONYMS));
    let singular = |word: &str| word.strip_suffix('s').unwrap_or(word).to_owned();
    share(&WORDS, a, b) || share(&WORDS, &singular(a), &singular(b))
}

/// Whether two words are a country's name, code or other name.
pub(super) fn are_one_country(a: &str, b: &str) -> bool {
    let has = |names: &str, wanted: &str| names.split(", ").any(|name| name == wanted);
    COUNTRIES.iter().any(|names| has(names, a) && has(names, b))
}

/// Whether two words of addresses name one kind of place in two languages.
pub(super) fn are_one_kind_of_place(a: &str, b: &str) -> bool {
    static WORDS: Groups = LazyLock::new(|| groups(PLACE_WORDS));
    share(&WORDS, a, b)
}

/// What an abbreviation stands for, each as words with spaces between them.
pub(super) fn expansions(word: &str) -> impl Iterator<Item = &'static str> {
    static WORDS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
        let mut found: HashMap<&str, Vec<&str>> = HashMap::new();
        for (short, long) in ABBREVIATIONS.split('|').filter_map(|pair| pair.trim().split_once('=')) {
            found.entry(short).or_default().push(long);
        }
        found
    });
    WORDS.get(word).into_iter().flatten().copied()
}
