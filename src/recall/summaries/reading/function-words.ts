/** Words without content of their own in several European languages: articles, pronouns, auxiliaries, interjections. */
const WORDS = `
get got go going make made say said know think want like really just maybe quite pretty lot stuff way well still
already even else much many every something anything nothing everything someone anyone everyone yet ever okay ok yes
yep yeah yup no nope nah sure thanks thank please sorry hi hello hey bye oh ah ooh aha wow hm hmm ugh argh haha
hahaha lol btw fyi tbh imo thx pls cheers damn yay noted great good nice cool perfect fine right exactly absolutely
definitely actually basically honestly anyway though gonna wanna gotta can't cannot won't don't it's i'm le la les
un une des du de d au aux et ou mais donc or ni que qui quoi dont où ce cet cette ces ça cela ceci je tu il elle on
nous vous ils elles me te se lui leur leurs y en mon ma mes ta tes sa ses notre nos votre vos est sont suis es
sommes êtes était étaient sera serait être été ai as a avons avez ont avait avoir eu fait faire faut ne pas plus
très bien aussi alors comme si par dans sur avec sans sous vers chez entre merci oui non bonjour bonsoir salut super
parfait accord quel quelle quels quelles combien quand pourquoi der das den dem ein eine einen einem einer eines und
oder aber denn weil dass wenn als wie wo was wer wen wem ich er sie wir ihr mich mir dich dir sich uns euch ihn ihm
ihnen mein meine dein deine sein seine unser unsere euer eure ist sind bist seid waren wird werden wurde habe haben
hast hatte kann können muss müssen soll sollen will wollen darf dürfen mag möchte nicht kein keine auch noch schon
nur sehr mehr dann da hier dort ja nein doch bitte danke hallo gut genau klar an am auf aus bei beim bis durch für
gegen im in ins mit nach ohne über um unter vom von vor zu zum zur zwischen el los las unos unas del al o pero
porque quien cual cuando donde cómo cuánto qué yo tú él ella nosotros vosotros ellos ellas mi mis tus su sus nuestro
nuestra soy eres somos era eran fue ser estar está están estoy ha han he tiene tengo sí muy más también ya para por
con sin sobre hasta desde gracias hola vale bueno perfecto lo gli i uno dei delle della dello degli alla allo nel
nella che chi cui quando dove come perché io lei noi voi loro mio mia tuo tua suo sua è sono sei siamo siete erano
ho hai abbiamo avete hanno più anche già per senza tra fra grazie ciao bene va het een of maar dat wat waar hoe
wanneer waarom ik jij hij zij ze wij we jullie hun mijn jouw zijn haar ons onze is bent wordt heeft heb hebben had
kan kunnen moet moeten zal zullen wil willen niet geen ook nog alleen zeer meer dan daar nee toch wel om aan op uit
bij tot door voor tegen naar zonder over dank hoi goed prima os uma umas do dos na nas ao à e mas quem qual onde
como ele ela nós eles elas meu minha teu seu é são sou és foi estão tem têm tenho há não sim muito também já com sem
até obrigado obrigada olá bom
`;

export const FUNCTION_WORDS: ReadonlySet<string> = new Set(WORDS.split(/\s+/).filter((word) => word !== ''));
