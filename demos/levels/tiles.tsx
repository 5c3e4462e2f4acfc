<?xml version="1.0" encoding="UTF-8"?>
<tileset version="1.8" tiledversion="1.8.2" name="tiles" tilewidth="32" tileheight="32" spacing="2" margin="1" tilecount="48" columns="8">
 <image source="tiles.png" width="272" height="204"/>
 <tile id="1">
  <properties>
   <property name="solid" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="2">
  <properties>
   <property name="solid" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="3">
  <properties>
   <property name="solid" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="4">
  <properties>
   <property name="solid" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="5">
  <properties>
   <property name="solid" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="6">
  <properties>
   <property name="solid" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="7">
  <properties>
   <property name="solid" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="8">
  <properties>
   <property name="solid" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="9">
  <properties>
   <property name="solid" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="11">
  <properties>
   <property name="one_way" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="12" type="crate"/>
 <tile id="13" type="coin">
  <animation>
   <frame tileid="13" duration="300"/>
   <frame tileid="14" duration="200"/>
  </animation>
 </tile>
 <tile id="17" type="gun"/>
 <tile id="18" type="player"/>
 <tile id="21" type="goal"/>
 <tile id="28" type="target"/>
 <tile id="34">
  <properties>
   <property name="solid" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="35">
  <properties>
   <property name="solid" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="36">
  <objectgroup draworder="index" id="2">
   <object id="1" x="0" y="32">
    <polygon points="0,0 32,-32 32,0"/>
   </object>
  </objectgroup>
 </tile>
 <tile id="37">
  <objectgroup draworder="index" id="2">
   <object id="1" x="0" y="32">
    <polygon points="0,0 32,-16 32,0"/>
   </object>
  </objectgroup>
 </tile>
 <tile id="38">
  <objectgroup draworder="index" id="2">
   <object id="1" x="0" y="16">
    <polygon points="0,0 32,-16 32,16 0,16"/>
   </object>
  </objectgroup>
 </tile>
 <tile id="39" type="ladder">
  <properties>
   <property name="sensor" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="40" type="water">
  <properties>
   <property name="sensor" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="41" type="water">
  <properties>
   <property name="sensor" type="bool" value="true"/>
  </properties>
 </tile>
 <tile id="42" type="brick"/>
 <tile id="43" type="bat">
  <animation>
   <frame tileid="43" duration="100"/>
   <frame tileid="44" duration="100"/>
  </animation>
 </tile>
</tileset>
