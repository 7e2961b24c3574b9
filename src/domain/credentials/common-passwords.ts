/** What is guessed first, of those that are long enough to be chosen; in lower case. */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
  00000000 000000000 0000000000 01234567 0123456789 09876543 0987654321 11111111 111111111 1111111111 11112222
  11223344 1122334455 112233445566 12121212 12312312 123123123 1231231234 12341234 1234512345 123454321
  12345678 123456789 1234567890 12345678910 123456789a 12345678a 1234567a 1234abcd 1234qwer 1234567q 123456aa
  123456abc 123456ab 123456qwerty 123qwe123 123qweasd 123qweasdzxc 123abc123 12qwaszx 13131313 13579246 135792468
  147258369 147852369 159357456 159753456 159753159 18181818 1a2b3c4d 1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1qaz1qaz
  1qaz2wsx 1qaz2wsx3edc 1qazxsw2 20202020 21212121 22222222 222222222 2222222222 22223333 23232323 23456789
  25252525 33333333 333333333 44444444 444444444 55555555 555555555 5555555555 66666666 666666666 69696969
  77777777 777777777 7777777777 87654321 88888888 888888888 8888888888 963852741 98765432 987654321 9876543210
  99999999 999999999 9999999999 a1234567 a12345678 a123456789 a1b2c3d4 a1s2d3f4 aa123456 aaaaaaaa aaaaaaaaaa
  abc12345 abc123456 abc123abc abcd1234 abcd12345 abcdefgh abcdefghi abcdefghij access14 admin123 admin1234
  admin12345 admin123456 admin@123 adminadmin administrator airborne alejandro alexander alexandra angelica
  anthony1 arsenal1 asas1212 asd123asd asdasdasd asdf1234 asdfasdf asdfghjk asdfghjkl asdqwe123 asdzxc123
  asshole1 azerty123 azertyuiop babygirl baseball baseball1 basketball benjamin beautiful blink182 bluebird
  brooklyn butterfly carolina caroline cassandra catherine changeit changeme changeme1 changeme123 charlie1
  charlotte cheesecake chelsea1 chocolate christian christina christine christopher cinderella cleopatra
  cocacola computer computer1 consumer cookie123 corvette courtney creative cristina daniel123 danielle darkness
  default1 diamond1 dolphin1 dolphins dragon12 dragon123 einstein elephant elizabeth emmanuel estrella explorer
  facebook fernando firebird football football1 forever1 francisco freedom1 friendship gabriel1 gangster
  gateway1 georgina giuseppe goldfish golfgolf goodluck gabriela guest123 guestguest hallo123 hamilton hannover
  harrypotter hellohello hello123 hello1234 hello12345 helpdesk hercules homework iloveme1 iloveyou iloveyou1
  iloveyou2 iloveyou12 infinity internet isabella jackson1 jasmine1 jennifer jessica1 johndoe1 jonathan jordan23
  justin12 kathleen katherine kimberly kingkong kristina lasvegas lavender letmein1 letmein123 letmeinnow
  liverpool liverpool1 logitech lollipop lovelove loveme123 loveyou1 madison1 margaret marseille marvelous
  master12 master123 matthew1 maverick melissa1 mercedes mercedes1 michael1 michelle microsoft midnight
  monkey12 monkey123 montreal mountain mustang1 mypassword napoleon natalie1 newpassword nicholas nicole12
  nintendo nopassword november oblivion octopus1 p@$$w0rd p@ssw0rd p@ssw0rd1 p@ssword p@ssword1 pa$$w0rd pa55w0rd
  pa55word pakistan paradise passpass passport passw0rd passw0rd1 password password! password. password0
  password01 password1 password1! password10 password11 password12 password123 password123! password1234
  password12345 password2 password22 password3 passwords passwort passwort1 patricia pavilion peaches1
  penelope personal peterpan phoenix1 playboy1 playstation pokemon1 pokemon123 porsche1 precious princesa
  princess princess1 princess12 professor q1w2e3r4 q1w2e3r4t5 q1w2e3r4t5y6 qazwsx12 qazwsx123 qazwsxedc
  qazwsxedcrfv qqqqqqqq qwaszx12 qweasd123 qweasdzxc qweqweqwe qwer1234 qwer12345 qwerasdf qwerqwer qwert123
  qwert12345 qwerty00 qwerty01 qwerty10 qwerty11 qwerty12 qwerty123 qwerty123! qwerty1234 qwerty12345
  qwerty123456 qwerty77 qwertyui qwertyuio qwertyuiop qwertz123 qwertzuiop rainbow1 remember richard1 rockstar1
  rolltide samantha samsung1 samsung123 savannah scarface scorpion sebastian secret123 secret12 security
  sergeant serenity shadow12 shadow123 sherlock skywalker slipknot snickers snowball soccer12 softball
  sometime spiderman spiderman1 squirrel starcraft starlight startrek starwars starwars1 steelers stephanie
  strawberry summer12 summer123 sunflower sunshine sunshine1 superman superman1 superstar swordfish system32
  sweetheart sweetpea target123 teacher1 temp1234 temppass test1234 test12345 test123456 testtest testing1
  testing123 thailand thisisme thunder1 tiffany1 timberland tinkerbell trinity1 trustme1 trustno1 tweety12
  undertaker universal valentina valentine vanessa1 vatoloco veronica victoria victoria1 volkswagen
  warcraft warriors waterfall webmaster welcome! welcome0 welcome1 welcome12 welcome123 welcome1234 westside whatever
  whatever1 william1 winston1 winter12 winter123 wolverine woodland wordpass xxxxxxxx yankees1 yellow12
  yourmom1 yugioh123 zaq12wsx zaq1zaq1 zaqxswcde zxcasdqwe zxcv1234 zxcvbnm1 zxcvbnm123 zxcvzxcv zxczxczxc zzzzzzzz
`
    .trim()
    .split(/\s+/),
);
