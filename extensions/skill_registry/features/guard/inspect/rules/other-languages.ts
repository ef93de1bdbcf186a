import type { Pattern } from '../rule.ts';
import { ADDRESS, each, re } from './words.ts';

/** The rules about instructions in other languages. */
export function inOtherLanguages(rule: keyof typeof ABROAD): readonly Pattern[] {
  return each({ unlessBefore: NEGATED_ABROAD }, ...ABROAD[rule]);
}

export const SENDS_ABROAD: Pattern = {
  where: 'prose',
  ordered: false,
  within: 90,
  sentence: true,
  unless: /\b(?:nie|niemals|nicht|jamais|nunca|mai|não)\b|不要|切勿|禁止/,
  match: [
    /(?<![\w/])\.env\b|~\/\.(?:ssh|aws|gnupg|kube|netrc)|\bid_(?:rsa|ed25519)|passw(?:o|ö)rt|zugangsdaten|mots? de passe|contraseñas?|senhas?\b|credenciales|identifiants|(?:api|private|privat|secret)[- ]?(?:schlüssel|key)|密码|密钥|私钥|凭证|パスワード|秘密鍵/,
    /\b(?:schick(?:e|en|t|st)?|sende[nt]?|übermittle|übermitteln|übertrage|übertragen|lade?n? [^.\n]{0,40}?hoch)\b|\b(?:envoie|envoyez|envoyer|transmets|transmettez|téléverse)\b|\b(?:envía|envia|envíe|envie|manda|sube|transmite|invia|inviare)\b|(?:发送|上传|发到|传到)(?=[^。\n]{0,80}https?:)|[向往到]\s?https?:\S{1,200}\s?(?:发送|上传)|送信|アップロード/,
    re`${ADDRESS}`,
  ],
};

// --- internal ---

const NEGATED_ABROAD =
  /\b(?:nie|niemals|nichts?|keine?|keinesfalls|jamais|pas|n['’]|ne|nunca|no|jamás|não|mai|non)\b[^.\n]{0,70}$|(?:不要|切勿|禁止|不得|绝不)[^。；，\n]{0,10}$|ないで$/;

/** German, French, Spanish, Portuguese, Italian, Chinese and Japanese. `\b` knows only English letters. */
const ABROAD: Readonly<Record<'overrides' | 'hides' | 'skips', readonly RegExp[]>> = {
  overrides: [
    /(?:ignorier\w{0,3}|vergiss|vergessen sie|missachte\w{0,2}) [^.\n]{0,60}?(?:anweisung|regeln|vorgaben|instruktion)|(?:anweisung(?:en)?|regeln|vorgaben)\b[^.\n]{0,50}?(?:gelten (?:ab \w{1,10} |jetzt |hier )?(?:nicht|keine)|\b(?:ungültig|aufgehoben|hinfällig|außer kraft|ausser kraft))|\bverg(?:iss|essen sie) alles,? [^.\n]{0,40}?(?:vorher|bisher|zuvor|davor)|\b(?:folge|befolge|beachte|halte dich) [^.\n]{0,40}?(?:anweisung|regeln|vorgaben)\w{0,2}[^.\n]{0,20}? nicht\b/,
    /\b(?:ignor(?:e|ez|er)|oubli(?:e|ez|er)|ne (?:tiens|tenez) (?:pas|plus) compte) [^.\n]{0,60}?(?:instructions|consignes|règles|directives) (?:précédent|antérieur|du système|de l['’]utilisateur|données|reçues|ci-dessus)|\boubli(?:e|ez) tout ce [^.\n]{0,40}?(?:avant|précéde|jusqu)|\bn(?:e |['’])(?:obéi\w{1,5}|sui[st]|suivez|respect\w{1,3}) (?:pas|plus) [^.\n]{0,40}?(?:instructions|consignes|règles|directives)|\b(?:instructions|consignes|règles) [^.\n]{0,40}?(?:ne s['’]appliquent plus|ne valent plus|sont (?:annulées|suspendues))/,
    /\b(?:ignor|olvid|desestim|descart)(?:a|e|en|ar|es) [^.\n]{0,60}?(?:instrucciones|reglas|indicaciones|directrices) (?:anterior|previas|del sistema|del usuario|recibidas|que (?:te|has|hayas|le))|\bolvid(?:a|e|ad) todo (?:lo )?[^.\n]{0,40}?(?:antes|anterior|hasta ahora)|\bno (?:hagas? caso|sigas?|obedezcas?|respetes?|tengas? en cuenta) [^.\n]{0,40}?(?:instrucciones|reglas|indicaciones|directrices)/,
    /(?:ignore|ignora|esqueça|esqueca|desconsidere) [^.\n]{0,60}?(?:instruções|regras|diretrizes) (?:anterior|prévias|do sistema|do usuário)/,
    /\b(?:ignora|ignorate|ignori|dimentica|dimenticate) [^.\n]{0,60}?(?:istruzioni|regole|direttive) (?:precedent|del sistema|dell['’]utente|ricevute)/,
    /(?:忽略|无视|無視|忘记|忘掉|不要理会|不必遵守|无需遵守)(?!任何?错误)[^。；\n]{0,12}(?:之前|以前|先前|以上|上述|此前|原有|系统|系統|用户|用戶)[^。；\n]{0,8}(?:指令|指示|规则|規則|提示词|要求|限制|命令)|(?:之前|以前|先前|以上|上述|此前|原有|系统)的?(?:所有|全部)?(?:指令|指示|规则|提示词|限制|命令)[^。；\n]{0,6}(?:作废|失效|无效|不再有效|不再适用)/,
    /(?:以前|これまで|今まで|上記|すべて|全て|システム)の(?:指示|命令|ルール|規則|プロンプト)(?:を|は)[^。\n]{0,8}(?:無視|忘れ)/,
  ],
  hides: [
    /(?:erwähn|verrat|sag|erzähl|informier|bericht|meld|zeig)\w{0,4} [^.\n]{0,50}?(?:nutzer|anwender|niemand)\w{0,3}[^.\n]{0,30}? (?:nichts?|kein wort)\b|\b(?:verrat|erzähl|sag)\w{0,2} (?:es |das )?niemandem\b|(?:dem|den|der|die) (?:nutzer|benutzer|anwender)\w{0,2} [^.\n]{0,40}?\bnichts? [^.\n]{0,30}?(?:erwähn|sagen|sagst|verrat|erzähl|erfahr|mitteil|mitgeteilt|informier|merk)|ohne [^.\n]{0,20}?(?:nutzer|anwender)\w{0,2} [^.\n]{0,20}?(?:zu informieren|zu sagen|merk|erfähr|weiß|weiss)|(?:nutzer|anwender)\w{0,2} (?:darf|soll|sollte|muss|braucht) [^.\n]{0,40}?\b(?:nichts?|nie|niemals)\b[^.\n]{0,30}?(?:erfahren|wissen|merken|bemerken|mitbekommen)|(?:verschweig|verheimlich)\w{0,3} [^.\n]{0,40}?(?:nutzer|anwender)/,
    /\bn(?:e |['’])(?:le |la |les |lui |en )?(?:dis|dites|mentionn\w{1,3}|révél\w{1,3}|inform\w{1,3}|parl\w{1,3}|signal\w{1,3}|préven\w{1,3}|avert\w{1,5}) (?:pas|rien|jamais|surtout)[^.\n]{0,60}?(?:utilisateur|personne\b)|(?:à l['’]insu de|sans (?:en )?(?:informer|prévenir|avertir|le dire à)) l['’]utilisateur|\bcach(?:e|ez|er)[^.\n]{0,40}? à l['’]utilisateur|utilisateur (?:ne (?:doit|devrait|saura|verra)|n['’]a) (?:pas|jamais|rien)[^.\n]{0,20}?(?:savoir|apprendre|remarquer)/,
    /\bno (?:se )?(?:lo |la |le |les )?(?:digas?|menciones?|informes?|reveles?|cuentes?|avises?|hables?|comentes?) [^.\n]{0,60}?(?:usuari[oa]|nadie)|\bno le (?:digas?|cuentes?|menciones?|avises?|informes?) [^.\n]{0,60}|\bsin (?:que (?:el|la) usuari[oa] (?:lo |la |se )?(?:entere|sepa|note|vea)|(?:avisar|informar|decir)[^.\n]{0,20}? usuari)|\bocult(?:a|e|ar)[^.\n]{0,40}? (?:al|del) usuari|usuari[oa] (?:no|nunca) (?:debe|debería|puede|tiene que|tiene por qué|necesita) [^.\n]{0,20}?(?:saber|enterarse|notar|darse cuenta)/,
    /\bnão (?:o |a |lhe )?(?:diga|mencione|informe|conte|revele|avise|fale) [^.\n]{0,60}?(?:usuário|utilizador|ninguém)|\bsem (?:que o (?:usuário|utilizador) (?:saiba|perceba|note)|(?:avisar|informar) o (?:usuário|utilizador))|(?:usuário|utilizador) não (?:deve|pode|precisa) [^.\n]{0,20}?(?:saber|perceber|notar)/,
    /\bnon (?:lo |la )?(?:dire|dirlo|menzionare|informare|rivelare|parlare|avvisare) [^.\n]{0,60}?(?:utente|nessuno)|\bsenza (?:che l['’]utente (?:lo |se ne )?(?:sappia|accorga|noti)|(?:avvisare|informare) l['’]utente)|utente non (?:deve|può) [^.\n]{0,20}?(?:sapere|saperlo|accorger|notar)/,
    /(?:不要|别|勿|不得|无需|不必|切勿|請勿|请勿|禁止)(?:向|把|将|跟|對|对)?[^。；，\n]{0,10}(?:(?:告诉|告知|告訴)(?:用户|用戶|使用者|任何人|他人)(?!如何|怎么)|(?:让|讓)(?:用户|用戶|使用者)(?:知道|发现|察觉|發現))|(?:不要|别|请勿|切勿)(?:向|对|跟)(?:用户|用戶|使用者)(?:提及|透露|提到|说明|汇报)|(?:瞒着|隐瞒|背着)(?:用户|用戶|使用者)|(?:对|向)(?:用户|用戶|使用者)(?:保密|隐瞒)|(?:不能|不得|不应)(?:被|让)(?:用户|用戶|使用者)(?:知道|发现|察觉|看到)/,
    /ユーザー?には?[^。\n]{0,20}?(?:伝えないで|知らせないで|言わないで|報告しないで|教えないで|知らせず|伝えず|気づかれない|知られない)/,
  ],
  skips: [
    /\bohne (?:(?:vorherige|weitere|jede|den|die|nach|um|auf) ){0,3}(?:(?:be)?nutzer\w? (?:um \w{1,20} )?zu fragen|bestätigung|rückfrage|nachfrage|zustimmung|erlaubnis|genehmigung|freigabe|nachzufragen|zu fragen)|\b(?:frag|wart)\w{0,2} [^.\n]{0,30}?(?:nicht|nie|niemals) [^.\n]{0,30}?(?:bestätigung|erlaubnis|zustimmung|genehmigung|freigabe)|\bkeine (?:bestätigung|rückfrage|nachfrage|zustimmung|erlaubnis|genehmigung|freigabe)n? (?:ein|nötig|notwendig|erforderlich|einholen|abwarten)\b|überspring\w{0,3} [^.\n]{0,30}?(?:bestätigung|rückfrage|nachfrage|freigabe)/,
    /\bsans (?:jamais )?(?:demander|attendre|solliciter|requérir) [^.\n]{0,30}?(?:confirmation|autorisation|accord|permission|approbation|consentement)|\bsans (?:la |l['’]|aucune )?(?:confirmation|autorisation|permission|approbation)\b|\bn(?:e |['’])(?:demand|attend)\w{1,3} (?:pas|jamais|aucune) [^.\n]{0,30}?(?:confirmation|autorisation|accord|permission|approbation)/,
    /\bsin (?:pedir|solicitar|esperar|requerir) [^.\n]{0,30}?(?:confirmación|permiso|autorización|aprobación|consentimiento)|\bsin (?:la |previa |ninguna )?(?:confirmación|autorización|permiso|aprobación)(?: previa| del| de)?|\bno (?:pidas?|esperes?|solicites?) [^.\n]{0,30}?(?:confirmación|permiso|autorización|aprobación)/,
    /\bsem (?:pedir|solicitar|esperar|aguardar) [^.\n]{0,30}?(?:confirmação|permissão|autorização|aprovação|consentimento)/,
    /\bsenza (?:chiedere|attendere|richiedere) [^.\n]{0,30}?(?:conferma|permesso|autorizzazione|approvazione|consenso)/,
    /(?:无需|无须|不需要|不必|不用|毋需|跳过|無需|跳過|未经)(?:经过|征求|等待|请求|获得|取得)?(?:用户|用戶|使用者|人工)?(?:的)?(?:再次|二次)?(?:确认|批准|许可|同意|授权|確認|许可)[^。；\n]{0,6}(?:直接|立即|就|即可|自动)(?:执行|删除|运行|发送|提交|操作|覆盖|執行|安装)|(?:直接|立即)(?:执行|删除|运行|发送|提交|覆盖|安装)[^。；\n]{0,12}(?:不用|无需|不必|不要|别)(?:再)?(?:问|询问|征求|请示|征得|经过)(?:用户|用戶|使用者)/,
    /(?:確認|承認|許可)(?:なしで|を求めずに|を待たずに|を取らずに|せずに)(?:、)?[^。\n]{0,20}?(?:実行|削除|送信|続行|進め)/,
  ],
};
